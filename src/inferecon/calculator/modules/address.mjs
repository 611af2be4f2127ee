// Choices in the page's address: only what differs from the default, and nothing taken on trust.

import {packedCard, unpackedCard} from './card.mjs';
import {packed, unpacked} from './config.mjs';
import {COUNTS, notWhole} from './scenario.mjs';
import {decimal} from './text.mjs';

export const MOST = 6; // columns beside each other
const RECORDS = {model: 'models', hardware: 'hardware', grid: 'grids'};
const ROLES = ['weights', 'activations', 'kv'];
// What a reader may state in place of a record: least, most, unit.
export const OWN = {
  price: [0, 1e6, 'USD/h'],
  intensity: [0, 1e5, 'gCO2e/kWh'],
  pue: [1, 100, ''],
  arithmetic: [0.1, 100, '%'],
  bandwidth: [0.1, 100, '%'],
};
export const NAMES = [...Object.keys(RECORDS), ...ROLES, ...COUNTS, 'provider', ...Object.keys(OWN), 'engine', 'unit'];

// What may be left open, and what stands for it then.
const OPEN = {activations: null, tp: null, ep: null, provider: '', engine: '', ...Object.fromEntries(Object.keys(OWN).map(name => [name, null]))};

const has = (object, key) => Object.prototype.hasOwnProperty.call(object, key);
const short = text => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

// One value from text: [value, ''], or [undefined, what is wrong with it].
export function value(records, name, text, hardware) {
  const wrong = said => [undefined, said];
  if (text === '' && has(OPEN, name)) return [OPEN[name], ''];
  if (has(RECORDS, name)) {
    const kind = RECORDS[name];
    if (!has(records[kind], text)) return wrong(`no record “${short(text)}” in ${kind}`);
    return records[kind][text].lacks ? wrong(`too little is known of ${text}`) : [text, ''];
  }
  if (ROLES.includes(name)) return records.roles[name].includes(text) ? [text, ''] : wrong(`“${short(text)}” is no format for ${name}`);
  if (COUNTS.includes(name)) {
    const count = /^\d{1,12}$/.test(text) ? Number(text) : short(text);
    const said = notWhole(name, count);
    return said ? wrong(said) : [count, ''];
  }
  if (name === 'provider') {
    const known = records.hardware[hardware].offers.some(one => one.provider === text);
    return known ? [text, ''] : wrong(`no offer of “${short(text)}” for ${hardware}`);
  }
  if (name === 'engine') return has(records.predictions.engines, text) ? [text, ''] : wrong(`no constants of the engine “${short(text)}”`);
  if (name === 'unit') return ['GB', 'GiB'].includes(text) ? [text, ''] : wrong('the unit of memory is GB or GiB');
  const [least, most, unit] = OWN[name], number = /^\d+(\.\d+)?(e-\d{1,3})?$/.test(text) ? Number(text) : NaN;
  const within = number >= least && number <= most;
  return within ? [number, ''] : wrong(`${name} must be a number from ${least} to ${most}${unit && ` ${unit}`}, not ${short(text)}`);
}

// Choices that pairs of name and text make of others, and what was ignored of them.
function taken(records, pairs, base) {
  const choices = {...base}, ignored = [];
  const texts = new Map();
  for (const [name, text] of pairs) if (NAMES.includes(name) && !texts.has(name)) texts.set(name, text);
  for (const name of NAMES) { // in this order, so that the device is known before its provider
    if (!texts.has(name)) continue;
    const [found, wrong] = value(records, name, texts.get(name), choices.hardware);
    if (wrong) ignored.push(wrong); else choices[name] = found;
  }
  if (choices.provider && !records.hardware[choices.hardware].offers.some(one => one.provider === choices.provider)) {
    choices.provider = ''; // of the device that it was chosen for
  }
  return {choices, ignored};
}

// Records with the reader's own model and card beside them, if there are any.
export const withOwn = (records, model, card) => ({
  ...records,
  ...(model && {models: {...records.models, own: model}}),
  ...(card && {hardware: {...records.hardware, own: card}}),
});

// The records with the reader's own model and card, the columns of an address, the first one live, and one
// sentence on what was ignored.
export function read(known, search) {
  const query = new URLSearchParams(search), model = query.has('own') ? unpacked(known, query.get('own')) : null;
  const card = query.has('card') ? unpackedCard(query.get('card')) : null, records = withOwn(known, model, card);
  const {choices, ignored} = taken(records, query, records.defaults);
  if (query.has('own') && !model) ignored.push('“own” describes no model');
  if (query.has('card') && !card) ignored.push('“card” describes no card');
  const columns = [choices], beside = query.getAll('vs'), dropped = beside.length - (MOST - 1);
  for (const text of beside.slice(0, MOST - 1)) {
    const other = taken(records, pairs(text), choices);
    columns.push(other.choices);
    ignored.push(...other.ignored);
  }
  if (dropped > 0) ignored.push(`at most ${MOST} columns stand beside each other, so the last ${dropped > 1 ? `${dropped} are` : 'one is'} left out`);
  return {records, columns, notice: ignored.length ? `Ignored in the address of this page: ${ignored.join('; ')}.` : ''};
}

// A kept column says how it differs from the first: "batch-128*isl-4096".
function pairs(text) {
  return text.split('*').filter(Boolean).map(part => {
    const at = part.indexOf('-'), name = at < 0 ? part : part.slice(0, at);
    try {
      return [name, at < 0 ? '' : decodeURIComponent(part.slice(at + 1))];
    } catch {
      return [name, part.slice(at + 1)];
    }
  });
}

const same = (one, other) => (one ?? '') === (other ?? '');

export function write(records, columns) {
  const query = new URLSearchParams(), [first, ...others] = columns;
  for (const name of NAMES) {
    if (!same(first[name], records.defaults[name])) query.set(name, decimal(first[name] ?? ''));
  }
  for (const other of others) {
    const parts = NAMES.filter(name => name !== 'unit' && !same(other[name], first[name]));
    query.append('vs', parts.map(name => `${name}-${encodeURIComponent(decimal(other[name] ?? ''))}`).join('*'));
  }
  if (columns.some(({model}) => model === 'own')) query.set('own', packed(records.models.own));
  if (columns.some(({hardware}) => hardware === 'own')) query.set('card', packedCard(records.hardware.own));
  return String(query);
}
