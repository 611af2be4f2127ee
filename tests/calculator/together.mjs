import {missing, obstacles, settled, solve} from './scenario.mjs';

// What the page says of each case, and the value of each symbol, NaN where nothing is computed.
export function computed(records, cases, symbols) {
  const values = new Float64Array(cases.length * symbols.length).fill(NaN), said = [];
  cases.forEach((raw, place) => {
    const [choices, wrong] = settled(records, raw);
    said.push({wrong, tp: choices.tp, ep: choices.ep});
    if (wrong) return;
    const found = solve(records, choices);
    said[place].obstacles = obstacles(records, choices, found);
    said[place].missing = Object.fromEntries(Object.keys(records.shown).map(x => [x, missing(records, choices, x)]));
    symbols.forEach((symbol, n) => { values[place * symbols.length + n] = found[symbol]; });
  });
  return {said, values};
}
