// The answer as rows, for the page and for every form in which it is taken away.

import {PARTS, PHASES} from './operators.mjs';
import {predicted} from './prediction.mjs';
import {lacking, obstacles, settled, solve} from './scenario.mjs';
import {GIGA, bytes, difference, digits, joined} from './words.mjs';


// One configuration, computed: what is wrong, what keeps it from running, all values.
export function answered(records, raw) {
  const [choices, wrong] = settled(records, raw);
  if (wrong) return {raw, choices, wrong, obstacles: [], values: {}, runs: false};
  const values = solve(records, choices), found = obstacles(records, choices, values);
  const runs = found.length === 0;
  if (runs) values.ttft_request = ofRequest(records, choices);
  const prediction = runs && choices.engine ? predicted(records, choices, choices.engine) : null;
  return {raw, choices, wrong, obstacles: found, values, runs, prediction};
}

// The first token of one request waits for the prefill of its own prompt, if for nothing else.
const ofRequest = (records, choices) => solve(records, {...choices, batch: 1}).ttft;

// All results of a configuration that can be computed, by the keys of their rows.
export function outcomes(records, choices) {
  const values = solve(records, choices), found = {...values, devices: values.n_devices, joules: values.energy_per_token, ttft_request: ofRequest(records, choices)};
  const foretold = choices.engine ? predicted(records, choices, choices.engine, false).values : {};
  for (const [key, [value]] of Object.entries(foretold)) found[`${key}_predicted`] = value;
  return found;
}

// Rows of several configurations, by topic: what it is, how it is known, unit, law, and a cell for each.
export function topics(records, answers, unit) {
  const plain = (key, says, of) => ({key, says, unit: '', cells: answers.map(one => cell(of(one.values)))});
  const giga = (key, says) => ({...plain(key, says, values => values[key] / GIGA[unit]), unit});
  const kinds = (key, kind) => answers.map(({choices}) => (key.endsWith('_at_limit') ? 'estimate' : kind === 'bound' ? limitKind(choices) : kind));
  const shown = (key, kind, law = key) => {
    const each = kinds(key, kind);
    return {...records.shown[law], key, kind: [...new Set(each)].join(' or '), cells: answers.map((one, n) => ({...result(records, one, key, law), kind: each[n]}))};
  };
  const joules = {...shown('energy_per_token', 'derived'), unit: 'J/tok', cells: answers.map(one => result(records, one, 'energy_per_token', 'energy_per_token', 1)), key: 'joules'};
  const more = {ttft: [{...shown('ttft_request', 'bound', 'ttft'), says: 'time to first token of a request (TTFT), its own prefill alone'}], energy_per_token: [joules]};
  const paces = Object.keys(PHASES).map(phase => ({
    key: phase, says: PHASES[phase], unit: '', cells: answers.map(one => ({text: one.runs ? winner(one.values, phase) : '–'})),
  }));
  const most = {key: 'largest_batch', says: 'largest batch that fits', unit: '', cells: answers.map(one => largest(one.values, unit))};
  const found = [
    {topic: 'Memory', rows: [
      plain('devices', 'devices of a replica', values => values.n_devices), giga('memory_needed', 'needed on each device'),
      giga('memory_available', 'that may be used of it'), most,
    ]},
    ...Object.entries(records.topics).map(([topic, keys]) => ({
      topic, rows: keys.flatMap(key => [shown(key, topic.startsWith('Energy') ? 'derived' : 'bound'), ...(more[key] ?? []), ...foretold(records, answers, key)]),
    })),
    {topic: 'What sets the pace', rows: paces},
  ];
  for (const {rows: list} of found) for (const row of list) differing(answers, row);
  return found;
}

// What no machine beats is a bound; with a share of a peak that the reader states it is none any more.
export const atShares = ({arithmetic, bandwidth}) => Math.min(arithmetic ?? 100, bandwidth ?? 100) < 100;
const limitKind = choices => (atShares(choices) ? 'at the shares stated' : 'bound');

// How far each cell is from the first, and why.
function differing(answers, {key, cells: [first, ...others]}) {
  others.forEach((one, n) => {
    if (one.value === undefined) return;
    one.apart = difference(one.value, first.value);
    if (one.apart && !one.apart.startsWith('±')) one.reason = answers[n + 1].reasons?.[key];
  });
}

// None fits where the weights alone, or they and one sequence, are too much: then by how much.
function largest(values, unit) {
  const most = values.largest_batch, lacks = values.weight_bytes_device + values.kv_bytes_device - values.memory_available;
  return most < 1 ? {value: 0, text: '0', brief: `${bytes(lacks, unit)} are lacking on each device for one sequence`} : cell(most);
}

const MARKS = {calibrated: '≈', extrapolated: '~'};

// The row of what engines are predicted to do, if any column has an engine and a figure for it.
function foretold(records, answers, key) {
  if (!answers.some(one => one.prediction?.values[key])) return [];
  const {unit, factor} = records.shown[key], says = records.predictions.says[key];
  const cells = answers.map(({prediction}) => {
    const found = prediction?.values[key];
    if (!found) return {value: NaN, text: '–', note: prediction?.reason, brief: prediction?.reason};
    const [value, low, high] = found.map(x => x * factor);
    return {value, low, high, known: prediction.known, text: digits(value), after: `${MARKS[prediction.known]} (${digits(low)}–${digits(high)})`};
  });
  return [{key: `${key}_predicted`, says, kind: 'predicted', unit, law: 'calibration', at: 'calibration.html', cells}];
}

export const rows = (...asked) => topics(...asked).flatMap(one => one.rows.map(row => ({topic: one.topic, ...row})));

const cell = value => ({value, text: joined(value, '')});

function result(records, one, key, law, factor = records.shown[law].factor) {
  if (!one.runs) return {value: NaN, text: '–', note: one.wrong || 'does not run'};
  const value = one.values[key] * factor;
  if (!Number.isNaN(value)) return cell(value);
  const facts = lacking(records, one.choices, law).map(name => records.facts[name]);
  return {value, text: '–', note: `no record states: ${facts.join(', ')}`, brief: brief(facts)};
}

const brief = ([first, ...others]) => `no record states: ${first}${others.length ? ` and ${others.length} more` : ''}`;

// The larger of arithmetic and memory sets the pace; communication is added to it.
export function winner(values, phase) {
  const [math, memory, comm] = Object.keys(PARTS).map(part => values[`t_${part}_${phase}`]);
  if (Number.isNaN(Math.max(math, memory))) return '–';
  const [name, most] = math > memory ? [PARTS.math, math] : [PARTS.memory, memory];
  return comm > most ? `${PARTS.comm}, then ${name}` : name;
}

// What each memory of a device goes to; ``over`` is what does not fit.
export function memory(values) {
  const weights = values.weight_bytes_device, cache = values.group_batch * values.kv_bytes_device;
  const kept = values.memory_capacity - values.memory_available;
  const free = values.memory_available - weights - cache;
  return {weights, cache, kept, free: Math.max(free, 0), over: Math.max(-free, 0)};
}

