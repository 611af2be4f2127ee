// What an engine is predicted to do, as forecast.py and calibration/ say it: the calibrated laws
// are printed from the equations, the constants come with the records.

import {calibrated, follows, service} from './laws.mjs';
import {given, peaks, widths} from './scenario.mjs';

const NODE = 8; // devices of a node
const NARROW_CACHE = 1, WIDE_CACHE = 2; // bytes per element of a cache, as rows tell them apart
const PLAIN = {arithmetic: null, bandwidth: null}; // an engine's own shares of the peaks are fitted
const TIMES = ['ttft', 'itl'];

// Predictions of a combination that runs: {engine, known, reason, values: {name: [value, low, high]}}.
// Without ``wide`` both ends are the value: an interval takes a hundred times as long.
export function predicted(records, choices, engine, wide = true) {
  const about = records.predictions, own = about.engines[engine], format = about.weights[choices.weights];
  if (!format) return {engine: own.name, reason: `no row with weights in ${choices.weights} was measured`, values: {}};
  const values = inputs(records, choices, format, own);
  const lacks = {engine: own.name, reason: 'a record lacks a fact that the laws need', values: {}};
  if (!Number.isFinite(values.flop_linear) || !Number.isFinite(values.hbm_bandwidth)) return lacks;
  if (values.weight_bytes_device > about.heavy * values.memory_available) return {...lacks, reason: 'its weights do not fit into memory'};
  const together = own.together.includes(`${choices.model}/${choices.hardware}/${format.class}`);
  const held = together ? 'row' : about.measured.includes(choices.hardware) ? 'cell' : 'card';
  const constants = constantsOf(own, choices.hardware, format.class);
  const found = {};
  for (const [group, names] of Object.entries(GROUPS)) {
    for (const name of names) {
      const ends = wide ? interval(about, values, constants, group, name, own.spread[name][held]) : Array(3).fill(figure(about, values, constants, name));
      if (ends.every(Number.isFinite)) found[name] = ends;
    }
  }
  const known = together ? 'calibrated' : 'extrapolated';
  return {engine: own.name, known, reason: Object.keys(found).length ? '' : lacks.reason, values: finished(records, choices, found)};
}

const GROUPS = {time: ['ttft', 'itl', 'throughput'], energy: ['energy_per_token']};

// What the calibrated laws need to know, with the batch that memory holds.
function inputs(records, choices, format, own) {
  const model = records.models[choices.model], device = records.hardware[choices.hardware], about = records.predictions;
  let weights = format.as;
  if (weights === 'fp8' && about.block_scaled.includes(choices.model)) weights = 'fp8-block128';
  const {activations: asked} = choices;
  const activations = about.activations.includes(asked) ? asked : format.narrow ? weights : 'bf16';
  const measuredAs = {...choices, ...PLAIN, weights, activations, kv: 'bf16'};
  const values = {...given(records, measuredAs), ...widths(records, measuredAs, model)};
  values.kv_width = given(records, choices).kv_width <= 1 ? NARROW_CACHE : WIDE_CACHE;
  const sixteen = device.peaks.bf16 ?? device.peaks.fp16 ?? NaN; // unpacked, multiplied in sixteen bits
  for (const [symbol, {rate}] of Object.entries(peaks(records, measuredAs))) values[symbol] = rate ?? sixteen;
  shared(values, choices, device, model);
  const {batch, isl, osl} = choices, first = {...values, ...service(values)};
  const mean = own.whole ? 1 : (isl + osl / 2) / Math.max(isl + osl, 1); // sequences at their mean length
  const room = first.memory_available - first.weight_bytes_device;
  const most = Math.floor(room / (first.kv_bytes_device * mean)) * first.n_devices / first.tp;
  values.batch = Number.isFinite(most) && most >= 1 ? Math.min(batch, most) : batch;
  const solved = {...values, ...service(values)};
  return {...solved, prefilled: solved.n_devices / solved.tp, asked: batch};
}

// Devices and their links: scale-up or the host's inside a domain, the network beyond.
function shared(values, {tp, ep}, device, model) {
  const devices = Math.max(tp, ep), {link, host, out} = device.links, domain = device.domain ?? Infinity;
  values.tp = Math.min(tp, devices);
  values.ep = model.given.n_experts ? Math.max(ep > NODE ? ep : devices, values.tp) : 1;
  const alone = Math.max(values.tp, values.ep) <= 1, inside = link ?? host ?? NaN, beyond = out ?? inside;
  values.link_bandwidth = alone ? 1 : values.tp > domain ? beyond : inside;
  values.scale_out_bandwidth = alone ? 1 : beyond;
  values.scale_up_size = domain;
}

// Value and open variance of each constant, on the scale on which its levels add up.
function constantsOf(own, hardware, kind) {
  const found = {}, added = [own.cards[hardware] ?? {}, own.formats[kind] ?? {}];
  for (const [name, base] of Object.entries(own.base)) {
    found[name] = added.reduce(([value, open], one) => [value + (one[name]?.[0] ?? 0), open + (one[name]?.[1] ?? 0)], base);
  }
  return found;
}

// One figure of a served request, others beside it; more sequences than fit run in waves.
function figure(about, values, constants, name) {
  const outer = {};
  for (const [symbol, [x]] of Object.entries(constants)) outer[symbol] = about.shares.includes(symbol) ? 1 / (1 + Math.exp(-x)) : Math.exp(x);
  const got = calibrated({...values, ...outer}), answer = Math.max(values.osl, 1);
  const waves = Math.max(values.asked / values.batch - 1, 0);
  if (name === 'ttft') return got.served_first + waves * (got.served_first + (answer - 1) * got.served_step);
  if (name === 'itl') return got.served_step;
  if (name === 'throughput') return got.served_throughput;
  return got.energy_served_token;
}

// The figure and its 90 % interval: the spread held out, and what levels never seen leave open.
function interval(about, values, constants, group, name, held) {
  const base = figure(about, values, constants, name);
  let open = 0;
  for (const symbol of about.groups[group]) {
    const [value, variance] = constants[symbol];
    if (!(variance > 0)) continue;
    const moved = {...constants, [symbol]: [value + about.step, variance]};
    open += ((Math.log(figure(about, values, moved, name)) - Math.log(base)) / about.step) ** 2 * variance;
  }
  const wide = Math.sqrt(held ** 2 + about.ninety ** 2 * open);
  return base > 0 ? [base, base * Math.exp(-wide), base * Math.exp(wide)] : [NaN, NaN, NaN];
}

// None beyond the bound of a time or a rate; and what follows from throughput and energy.
function finished(records, choices, found) {
  const asked = given(records, {...choices, ...PLAIN}), bound = service(asked);
  const limits = {ttft: service({...asked, batch: 1}).ttft, itl: bound.itl, throughput: bound.throughput};
  for (const [name, limit] of Object.entries(limits)) {
    if (found[name] && Number.isFinite(limit)) found[name] = found[name].map(x => (TIMES.includes(name) ? Math.max(x, limit) : Math.min(x, limit)));
  }
  const ends = [0, 1, 2].map(n => follows({...asked, n_devices: bound.n_devices, throughput: found.throughput?.[n], energy_per_token: found.energy_per_token?.[n]}));
  for (const name of ['throughput_device', 'carbon_per_token', 'cost_per_token']) {
    const [value, one, other] = ends.map(end => end[name]);
    if (!Number.isNaN(value)) found[name] = [value, Math.min(one, other), Math.max(one, other)];
  }
  return found;
}
