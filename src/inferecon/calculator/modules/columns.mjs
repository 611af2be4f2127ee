// What columns that stand beside each other are called: by what differs between them.

import {NAMES, OWN} from './address.mjs';
import {decimal} from './text.mjs';
import {commas} from './words.mjs';

const COLUMN = {
  model: (id, records) => records.models[id].name,
  hardware: (id, records) => records.hardware[id].name,
  weights: id => `weights ${id}`,
  activations: id => (id ? `activations ${id}` : 'activations as the weights'),
  kv: id => `KV cache ${id}`,
  tp: count => (count ? `TP ${count}` : 'fewest devices'),
  ep: count => (count ? `EP ${count}` : ''),
  batch: count => `batch ${commas(count)}`,
  isl: count => `${commas(count)} tokens in`,
  osl: count => `${commas(count)} tokens out`,
  provider: name => (name ? `price of ${name}` : 'lowest price'),
  grid: (id, records) => `grid ${records.grids[id].name}`,
  engine: id => (id ? '' : 'derived alone'),
};
const STATED = {price: 'price', intensity: 'grid', pue: 'PUE', arithmetic: 'arithmetic reached', bandwidth: 'bandwidth reached'};
const inWords = (records, name, value) => {
  if (name in COLUMN) return COLUMN[name](value, records);
  return value == null ? `${STATED[name]} as recorded` : `${STATED[name]} ${decimal(value)}${OWN[name][2] && ` ${OWN[name][2]}`}`;
};
const differs = (one, other) => NAMES.filter(name => name !== 'unit' && (one[name] ?? '') !== (other[name] ?? ''));

// A name for each column: of the first, what any other has otherwise; of another, what it has otherwise.
export function named(records, columns) {
  const [first, ...others] = columns, apart = others.map(other => differs(first, other));
  const any = NAMES.filter(name => apart.some(names => names.includes(name)));
  return columns.map((one, n) => (n ? apart[n - 1] : any).map(name => inWords(records, name, one[name])).filter(Boolean).join(', ') || 'the same');
}
