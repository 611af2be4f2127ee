// The answer as rows, for the page and for every form in which it is taken away.

import {predicted} from './prediction.mjs';
import {missing, obstacles, settled, solve} from './scenario.mjs';
import {GIGA, digits, joined} from './words.mjs';

const PHASES = {prefill: 'prefill', decode: 'decode step'};
const PARTS = {math: 'arithmetic', memory: 'memory', comm: 'communication'};

// One configuration, computed: what is wrong, what keeps it from running, all values.
export function answered(records, raw) {
  const [choices, wrong] = settled(records, raw);
  if (wrong) return {raw, choices, wrong, obstacles: [], values: {}, runs: false};
  const values = solve(records, choices), found = obstacles(records, choices, values);
  const runs = found.length === 0;
  const prediction = runs && choices.engine ? predicted(records, choices, choices.engine) : null;
  return {raw, choices, wrong, obstacles: found, values, runs, prediction};
}

// Rows of several configurations, by topic: what it is, unit, law, and a cell for each.
export function topics(records, answers, unit) {
  const plain = (key, says, of) => ({key, says, unit: '', cells: answers.map(one => cell(of(one.values)))});
  const giga = (key, says) => ({...plain(key, says, values => values[key] / GIGA[unit]), unit});
  const shown = key => ({...records.shown[key], key, cells: answers.map(one => result(records, one, key, records.shown[key].factor))});
  const joules = key => ({...shown(key), key: 'joules', unit: 'J/tok', cells: answers.map(one => result(records, one, key, 1))});
  const paces = Object.keys(PHASES).map(phase => ({
    key: phase, says: PHASES[phase], unit: '', cells: answers.map(one => ({text: one.runs ? winner(one.values, phase) : '–'})),
  }));
  return [
    {topic: 'Memory', rows: [
      plain('devices', 'devices of a replica', values => values.n_devices),
      giga('memory_needed', 'needed on each device'),
      giga('memory_available', 'that may be used of it'),
      plain('largest_batch', 'largest batch that fits', values => Math.max(values.largest_batch, 0)),
    ]},
    ...Object.entries(records.topics).map(([topic, keys]) => ({
      topic, rows: keys.flatMap(key => [shown(key), ...(key === 'energy_per_token' ? [joules(key)] : []), ...foretold(records, answers, key)]),
    })),
    {topic: 'What sets the pace', rows: paces},
  ];
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
  return [{key: `${key}_predicted`, says: `${says}, predicted`, unit, law: 'calibration', at: 'calibration.html', cells}];
}

export const rows = (...asked) => topics(...asked).flatMap(one => one.rows.map(row => ({topic: one.topic, ...row})));

const cell = value => ({value, text: joined(value, '')});

function result(records, one, key, factor) {
  if (!one.runs) return {value: NaN, text: '–', note: one.wrong || 'does not run'};
  const value = one.values[key] * factor;
  if (!Number.isNaN(value)) return cell(value);
  const facts = missing(records, one.choices, key).map(name => records.facts[name]);
  return {value, text: '–', note: `no record states: ${facts.join(', ')}`, brief: brief(facts)};
}

const brief = ([first, ...others]) => `no record states: ${first}${others.length ? ` and ${others.length} more` : ''}`;

// The three bounds of each phase, and which one sets the pace.
export function bounds(records, {values}) {
  return Object.keys(PHASES).map(phase => ({
    phase: PHASES[phase],
    winner: winner(values, phase),
    parts: Object.entries(PARTS).map(([part, says]) => {
      const key = `t_${part}_${phase}`, shown = records.shown[key];
      return {says, key, at: shown.at, seconds: values[key], text: joined(values[key] * shown.factor, shown.unit)};
    }),
  }));
}

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

