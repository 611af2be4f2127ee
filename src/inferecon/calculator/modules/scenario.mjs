// From choices to numbers, by the rules of scenario.py, givens.py and fitting.py; the laws
// themselves are printed from the equations.  A test computes the same scenarios on both sides.

import {service, width} from './laws.mjs';
import {commas} from './words.mjs';

const SIXTEEN_BIT = ['bf16', 'fp16', 'fp32']; // formats a matrix unit takes without a scale
const POWERS = [1, 2, 4, 8, 16, 32, 64];
const JOULES = {peak_linear: 'energy_linear', peak_expert: 'energy_expert', peak_native: 'energy_native'};
export const COUNTS = ['tp', 'ep', 'batch', 'isl', 'osl'];

// Formats ------------------------------------------------------------------------------------------

// Number format of the activations that goes with a weight format.
export const activationsFor = (records, weights) => (records.formats[weights].only ? 'bf16' : weights);

// Bytes per element of a format, scales included; some share one scale a row.
export function bytesOf(records, id, row) {
  const format = records.formats[id];
  return width(format.row ? {...format.given, block_size: row} : format.given).format_width;
}

const nativeFormat = (model, activations) => (SIXTEEN_BIT.includes(activations) ? activations : model.native);

export function widths(records, choices, model) {
  const native = nativeFormat(model, choices.activations);
  const applies = records.formats[choices.weights].applies;
  const outside = applies === 'all' ? choices.weights : native;
  const formats = {
    linear_width: applies === 'experts' ? native : choices.weights,
    expert_byte_width: choices.weights,
    table_width: outside,
    vector_width: outside,
    activation_width: choices.activations,
    reduce_width: native,
    kv_width: choices.kv,
    state_width: native,
  };
  const row = model.given.hidden_size;
  return Object.fromEntries(Object.entries(formats).map(([name, id]) => [name, bytesOf(records, id, row)]));
}

// Peak rate of a device for operands in a format, never that of another, or the reason for none.
function peak(records, hardware, id) {
  const device = records.hardware[hardware], byVendor = records.formats[id].peak;
  const known = byVendor[device.vendor] ?? byVendor.all;
  if (known === undefined) return {reason: `${device.vendor} devices have no unit for ${id}`};
  if (!(known in device.peaks)) return {reason: `hardware/${hardware}.yaml states no ${known} rate`};
  return {name: known, rate: device.peaks[known]};
}

// Peak rate of each operator; of two narrow operands the wider one sets the rate.
export function peaks(records, choices) {
  const model = records.models[choices.model], row = model.given.hidden_size;
  const {weights, activations} = choices, format = records.formats[weights];
  const wider = bytesOf(records, weights, row) >= bytesOf(records, activations, row) ? weights : activations;
  const outside = peak(records, choices.hardware, nativeFormat(model, activations));
  const linear = peak(records, choices.hardware, format.only ? activations : wider);
  return {peak_native: outside, peak_linear: format.applies === 'experts' ? outside : linear, peak_expert: linear};
}

// Prices -------------------------------------------------------------------------------------------

// The named provider's offer, else the lowest on-demand offer on record, else none.
export function offer(records, choices) {
  const {offers} = records.hardware[choices.hardware];
  if (choices.provider) return offers.find(one => one.provider === choices.provider);
  return offers.filter(one => one.kind === 'on-demand').reduce((best, one) => (best && best.price <= one.price ? best : one), undefined);
}

// Given values ----------------------------------------------------------------------------------------

// Every given value by the name of its symbol; what no record states has no key.
export function given(records, choices) {
  const model = records.models[choices.model], device = records.hardware[choices.hardware];
  const values = {...records.given};
  for (const name of records.zeros) values[name] = 0;
  Object.assign(values, model.given, device.given, records.grids[choices.grid].given, widths(records, choices, model));
  for (const [symbol, found] of Object.entries(peaks(records, choices))) {
    if (found.name === undefined) continue;
    values[symbol] = found.rate;
    if (found.name in device.joules) values[JOULES[symbol]] = device.joules[found.name];
  }
  const price = offer(records, choices)?.price;
  if (price !== undefined) values.price = price;
  for (const name of COUNTS) values[name] = choices[name];
  return own(values, choices);
}

// What the reader states in place of a record: a price, a grid, a PUE, and the share of each peak
// that a machine reaches; nothing paid or emitted is a statement too.
function own(values, choices) {
  if (choices.price != null) values.price = choices.price / 3600;
  if (choices.pue != null) values.pue = choices.pue;
  if (choices.intensity != null) values.grid_intensity = choices.intensity / 3.6e6;
  const arithmetic = (choices.arithmetic ?? 100) / 100, bandwidth = (choices.bandwidth ?? 100) / 100;
  for (const name of Object.keys(JOULES)) if (name in values) values[name] *= arithmetic;
  if ('hbm_bandwidth' in values) values.hbm_bandwidth *= bandwidth;
  return values;
}

// Every symbol of the report in a scenario, in base units; NaN where a fact is missing.
export function solve(records, choices) {
  const values = given(records, choices);
  return {...values, ...service(values)};
}

// What a result would need and no record states.
export function missing(records, choices, symbol) {
  const known = given(records, choices);
  return records.shown[symbol].needs.filter(name => !(name in known));
}

// Of these what this model uses: a fact that moves the result, however much or little it is, while
// others stand for what is missing beside it.
export function lacking(records, choices, symbol) {
  const known = given(records, choices), without = missing(records, choices, symbol);
  const filled = {...known, ...Object.fromEntries(records.shown[symbol].needs.filter(name => !(name in known)).map(name => [name, 1]))};
  const usual = service(filled)[symbol], moves = name => [1e-30, 1e30].some(extreme => service({...filled, [name]: extreme})[symbol] !== usual);
  const used = without.filter(moves);
  return used.length ? used : without;
}

// Mistakes ----------------------------------------------------------------------------------------------

const divisors = count => Array.from({length: Math.min(count, 64)}, (_, n) => n + 1).filter(n => count % n === 0);
export const headsDivide = (records, id) => divisors(records.models[id].given.n_heads);
const experts = (records, id) => records.models[id].given?.n_experts ?? 0;
export const expertsDivide = (records, id) => (experts(records, id) ? divisors(experts(records, id)) : [1]);

// Say what is wrong with choices that name known records; empty if nothing is.
export function mistake(records, choices) {
  for (const name of COUNTS) {
    const wrong = notWhole(name, choices[name]);
    if (wrong) return wrong;
  }
  const model = records.models[choices.model];
  if (model.lacks) {
    return `models/${choices.model}.yaml states no ${model.lacks.slice(0, 3).join(', ')}, so nothing can be computed for it`;
  }
  return wrongShape(records, choices, model);
}

export function notWhole(name, value) {
  if (!Number.isInteger(value) || value < 1) return `${name} must be a whole number of at least 1, not ${value}`;
  return value > 1e9 ? `${name} must be at most 1,000,000,000, not ${value}` : '';
}

function wrongShape(records, {model: id, tp, ep, isl, osl}, model) {
  if (isl + osl > model.context) {
    return `isl ${isl} + osl ${osl} exceeds the context of ${id}, ${commas(model.context)} tokens`;
  }
  const heads = model.given.n_heads, count = experts(records, id);
  if (heads % tp) return `tp ${tp} does not divide the ${heads} heads of ${id}; allowed: ${divisors(heads).join(', ')}`;
  if (ep > 1 && !count) return `ep ${ep}: ${id} has no experts, so ep must be 1`;
  if (ep > 1 && count % ep) return `ep ${ep} does not divide the ${count} experts of ${id}; allowed: ${divisors(count).join(', ')}`;
  if (Math.max(tp, ep) % Math.min(tp, ep) || (1 < ep && ep < tp)) return `ep ${ep} must be 1, tp (${tp}) or a multiple of tp`;
  return '';
}

// Devices ----------------------------------------------------------------------------------------------

// Expert parallelism that goes with devices sharing each matrix.
export const expertsOver = (records, id, devices) => {
  const count = experts(records, id);
  return count && count % devices === 0 ? devices : 1;
};

// Tensor and expert parallelism on the fewest devices of one domain that hold it, else the largest.
export function fewest(records, choices) {
  const heads = records.models[choices.model].given.n_heads;
  const largest = records.hardware[choices.hardware].domain ?? 1;
  let chosen = {tp: 1, ep: 1};
  for (const tp of POWERS.filter(n => heads % n === 0 && n <= largest)) {
    chosen = {tp, ep: expertsOver(records, choices.model, tp)};
    const values = solve(records, {...choices, ...chosen});
    if (values.memory_needed <= values.memory_available) break;
  }
  return chosen;
}

// Choices with nothing left open, and what is wrong with them: activations that go with the
// weights, and the fewest devices, where none are named.
export function settled(records, choices) {
  const activations = choices.activations ?? activationsFor(records, choices.weights);
  const {tp, ep} = choices, alone = {...choices, activations, tp: 1, ep: 1};
  if (tp == null && ep != null) return [alone, `ep ${ep} is given without tp: give both, or neither`];
  if (tp == null) {
    const wrong = mistake(records, alone);
    return wrong ? [alone, wrong] : [{...alone, ...fewest(records, alone)}, ''];
  }
  const whole = {...alone, tp, ep: ep ?? (notWhole('tp', tp) ? 1 : expertsOver(records, choices.model, tp))};
  return [whole, mistake(records, whole)];
}

// Say what keeps a combination from running, each with the numbers that clash.
export function obstacles(records, choices, values = solve(records, choices)) {
  const {model: id, hardware, weights, activations, tp, ep} = choices;
  const device = records.hardware[hardware], devices = Math.max(tp, ep), found = [];
  const native = nativeFormat(records.models[id], activations);
  for (const [symbol, {reason}] of Object.entries(peaks(records, choices))) {
    if (reason === undefined) continue;
    const pair = symbol === 'peak_native' ? `attention in ${native}` : `${weights} weights with ${activations} activations`;
    found.push(`${pair} cannot be computed: ${reason}`);
  }
  if (devices > (device.domain ?? 1)) {
    const has = device.domain == null ? 'no scale-up link' : `a scale-up domain of ${device.domain}`;
    found.push(`${devices} devices are asked for, ${device.name} has ${has}`);
  }
  const {memory_needed: needed, memory_available: room, largest_batch: most} = values;
  if (room === undefined || Number.isNaN(room)) found.push(`hardware/${hardware}.yaml states no memory capacity`);
  else if (needed > room) {
    const would = most >= 1 ? `; batch ${commas(most)} would fit` : '';
    found.push(`${tenths(needed)} GB are needed on each of ${devices} device${devices > 1 ? 's' : ''}, ${tenths(room)} GB are available${would}`);
  }
  return [...new Set(found)];
}

const tenths = value => (value / 1e9).toLocaleString('en-US', {minimumFractionDigits: 1, maximumFractionDigits: 1, roundingMode: 'halfEven'});

// Whether it runs as asked.
export function runs(records, choices) {
  return !mistake(records, choices) && obstacles(records, choices).length === 0;
}
