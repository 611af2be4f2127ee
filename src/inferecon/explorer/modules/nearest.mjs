// The valid choice that is nearest to what an address asks for: by size of numbers, by letters of names.

const letters = text => text.toLowerCase().replace(/[^a-z0-9]/g, '').slice(0, 60);

// How many letters must be put in, left out or changed to make one text of another (Levenshtein).
export function distance(one, other) {
  let before = Array.from({length: other.length + 1}, (_, n) => n);
  for (let row = 1; row <= one.length; row += 1) {
    const now = [row];
    for (let n = 1; n <= other.length; n += 1) now.push(Math.min(before[n] + 1, now[n - 1] + 1, before[n - 1] + (one[row - 1] !== other[n - 1])));
    before = now;
  }
  return before.at(-1);
}

// From 0, the same letters, to 1, none in common; a part of a name is near to it.
function apartness(asked, name) {
  const [one, other] = [letters(asked), letters(name)], longer = Math.max(one.length, other.length, 1);
  const within = one.length > 2 && other.includes(one);
  return (within ? 0.1 : 1) * distance(one, other) / longer;
}

// Of options, each a value and what it is called, the one that is nearest; of none, null.
export function nearest(asked, options) {
  const number = /^\d{1,12}(\.\d+)?$/.test(asked.trim()) ? Number(asked) : 0, sizes = options.filter(([value]) => Number(value) > 0);
  const gap = number && sizes.length ? ([value]) => Math.abs(Math.log(value / number)) : ([value, name]) => Math.min(apartness(asked, String(value)), apartness(asked, name));
  const found = (number && sizes.length ? sizes : options).map(option => [gap(option), option]);
  return found.length ? found.reduce((best, one) => (one[0] < best[0] ? one : best))[1] : null;
}
