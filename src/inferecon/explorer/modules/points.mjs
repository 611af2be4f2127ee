// The published dataset as typed arrays: a value has three digits, the ones that the page shows.

export const BASES = ['bound', 'predicted'];

function raw(text) {
  const letters = atob(text), found = new Uint8Array(letters.length);
  for (let n = 0; n < letters.length; n += 1) found[n] = letters.charCodeAt(n);
  return found;
}

// Numbers of 16 bits: all high bytes, then all low ones.
function unpackedCodes(text) {
  const found = raw(text), count = found.length / 2, codes = new Uint16Array(count);
  for (let n = 0; n < count; n += 1) codes[n] = 256 * found[n] + found[count + n];
  return codes;
}

// The value of every code.  Each power of ten has ``steps`` numbers of three digits; a quotient is
// rounded right, a product not.  Above or below is less than any digit shows, but says that 77 is
// written 77.0.
function valuesOf({smallest, steps, sides: [above, below]}) {
  const values = new Float64Array(2 ** 16).fill(NaN);
  for (let own = 0; own + 1 < above; own += 1) {
    const power = Math.floor(own / steps) + smallest - 2, figures = own % steps + 100;
    const value = power < 0 ? figures / 10 ** -power : figures * 10 ** power;
    values[own + 1] = value;
    values[own + 1 + above] = value * (1 + 2 ** -40);
    values[own + 1 + below] = value * (1 - 2 ** -40);
  }
  return values;
}

function decoded(text, values) {
  const codes = unpackedCodes(text), found = new Float64Array(codes.length);
  for (let n = 0; n < codes.length; n += 1) found[n] = values[codes[n]];
  return found;
}

// The three digits as a number that other programs take.
export const plain = value => Number(value.toPrecision(3));

export function opened(data) {
  const {combinations: found, models, devices, formats} = data, colours = new Map(data.families);
  const combinations = found.model.map((_, n) => {
    const model = models[found.model[n]], device = devices[found.hardware[n]], weights = formats[found.weights[n]];
    return {
      name: `${model.id}/${device.id}/${weights}`, notebook: `sweep/${model.id}/${device.id}--${weights}.ipynb`, model, device, weights, activations: found.activations[n],
      tp: found.tp[n], ep: found.ep[n], devices: Math.max(found.tp[n], found.ep[n]),
      colour: colours.get(model.family), shape: data.classes.indexOf(device.class),
      obstacle: data.obstacles[found.obstacle[n]] ?? '', unpredicted: data.reasons[found.unpredicted[n]] ?? '',
    };
  });
  const of = unpackedCodes(data.of), at = unpackedCodes(data.at), known = unpackedCodes(data.known);
  const values = valuesOf(data), columns = Object.fromEntries(Object.entries(data.columns).map(([name, text]) => [name, decoded(text, values)]));
  const places = new Map(Array.from(of, (combination, n) => [idOf(combinations[combination], ...data.grid[at[n]]), n]));
  const metrics = Object.fromEntries(data.metrics.map(metric => [metric.key, metric]));
  return {
    ...data, metrics, combinations, count: of.length, columns, places,
    isls: [...new Set(data.grid.map(([isl]) => isl))], batches: [...new Set(data.grid.map(([, batch]) => batch))],
    tps: [...new Set(combinations.filter(one => !one.obstacle).map(one => one.tp))].sort((a, b) => a - b),
    combination: n => combinations[of[n]],
    place: n => of[n],
    isl: n => data.grid[at[n]][0],
    batch: n => data.grid[at[n]][1],
    known: n => data.kinds[known[n]],
    id: n => idOf(combinations[of[n]], ...data.grid[at[n]]),
  };
}

const idOf = ({name}, isl, batch) => `${name}/${batch}/${isl}`;

// What points have on an axis: a bound, or a prediction; NaN where a point has neither.
export function reader(points, key, basis) {
  if (key === 'batch') return points.batch;
  const column = points.columns[basis === 'predicted' ? `${key}_predicted` : key];
  return n => column?.[n] ?? NaN;
}

export const amount = (points, key, basis, n) => reader(points, key, basis)(n);

// Both ends of the interval of a prediction, nothing for a bound.
export function ends(points, key, basis, n) {
  if (basis !== 'predicted' || key === 'batch') return null;
  const found = ['low', 'high'].map(end => points.columns[`${key}_${end}`][n]);
  return found.some(Number.isNaN) ? null : found;
}

export const predicted = (points, n) => !Number.isNaN(points.columns.itl_predicted[n]);

// Why a point is not predicted; nothing where it is.
export function unpredicted(points, n) {
  if (predicted(points, n)) return '';
  return points.combination(n).unpredicted || `no reason is on record for ${points.isl(n).toLocaleString('en-US')} tokens in`;
}

// What an axis can show: of an engine only what is predicted for it.
export const shownOn = (points, basis) => Object.values(points.metrics).filter(({foretold}) => basis === 'bound' || foretold);

// What a point is called: of which model, and how it runs.
export const called = (points, n) => `${points.combination(n).model.name}, ${how(points, n)}`;

export function how(points, n) {
  const {device, devices, weights} = points.combination(n);
  return `${weights} on ${devices > 1 ? `${devices} × ` : ''}${device.name}, batch ${points.batch(n)}`;
}
