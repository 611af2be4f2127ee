// Why a result differs between two configurations: each input that differs is exchanged alone, put
// into the one and taken out of the other, and what moves the result most is the reason.

import {outcomes, winner} from './answer.mjs';
import {given, peaks} from './scenario.mjs';
import {commas, digits, several} from './words.mjs';

const ENOUGH = 0.85, WORTH = 0.2; // shares of a difference: explained by one input; worth a second
const PHASE = {itl: 'decode', ttft: 'prefill'};
// Facts of a device that are one input together; what is in no group are constants of its energy.
const FACTS = {bandwidth: ['hbm_bandwidth'], memory: ['memory_capacity'], power: ['board_power'], links: ['link_bandwidth', 'link_latency', 'scale_out_bandwidth']};
const GROUPED = Object.values(FACTS).flat();

const deviceOf = ({records, choices}) => records.hardware[choices.hardware];
const instead = (state, id, device) => ({records: {...state.records, hardware: {...state.records.hardware, [id]: device}}, choices: {...state.choices, hardware: id}});
const withDevice = (state, change) => instead(state, state.choices.hardware, {...deviceOf(state), ...change});
const pick = (object, names) => Object.fromEntries(names.filter(name => name in object).map(name => [name, object[name]]));
const drop = (object, names) => Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
const peakOf = state => Math.max(...Object.values(peaks(state.records, state.choices)).map(({rate}) => rate ?? NaN));

const against = (what, one, other, unit) => `${what} ${digits(one)} against ${digits(other)}${unit && ` ${unit}`}`;
const ofFact = (what, name, unit, base) => (one, other) => against(what, deviceOf(one).given[name] / base, deviceOf(other).given[name] / base, unit);
const ofCount = (what, unit = '') => name => (one, other) => `${what} ${commas(one.choices[name])} against ${commas(other.choices[name])}${unit}`;
const ofGiven = (what, symbol, unit, base) => (one, other) => against(what, given(one.records, one.choices)[symbol] / base, given(other.records, other.choices)[symbol] / base, unit);
const ofWords = (what, names) => (one, other) => {
  const [said, theirs] = [one, other].map(({choices}) => [...new Set(names.map(name => choices[name]))].join(' and '));
  return `${what} ${said}, not ${theirs}`;
};

// An input: how it is taken from another configuration, and how the difference is said.
const ofChoice = (names, says) => ({put: (state, from) => ({...state, choices: {...state.choices, ...pick(from.choices, names)}}), says});
const ofFacts = (group, says, parts = []) => ({
  put: (state, from) => withDevice(state, {given: {...drop(deviceOf(state).given, FACTS[group]), ...pick(deviceOf(from).given, FACTS[group])}, ...pick(deviceOf(from), parts)}),
  says,
});
// A fact as if the reader had stated it; nothing changes where both have the same one, or one has none.
const asStated = (state, from, name, symbol, factor) => {
  const [now, then] = [state, from].map(({records, choices}) => given(records, choices)[symbol]);
  return then === undefined || now === then ? state : {...state, choices: {...state.choices, [name]: then * factor}};
};
const counted = (name, what, unit) => ofChoice([name], ofCount(what, unit)(name));
const INPUTS = [
  ofChoice(['model'], ({records, choices}, other) => `${records.models[choices.model].name}, not ${other.records.models[other.choices.model].name}`),
  ofChoice(['weights', 'activations'], ofWords('weights and activations in', ['weights', 'activations'])),
  ofChoice(['kv'], ofWords('cache in', ['kv'])),
  ofChoice(['tp', 'ep'], (one, other) => {
    const [mine, theirs] = [one, other].map(({choices: {tp, ep}}) => Math.max(tp, ep));
    const split = ({choices: {tp, ep}}) => `TP ${tp}, EP ${ep}`;
    return mine === theirs ? `${split(one)} against ${split(other)}` : `${several(mine, 'device')} against ${commas(theirs)}`;
  }),
  counted('batch', 'batch', ''), counted('isl', 'prompt', ' tokens'), counted('osl', 'answer', ' tokens'),
  ofFacts('bandwidth', ofFact('memory bandwidth', 'hbm_bandwidth', 'GB/s', 1e9)),
  ofFacts('memory', ofFact('memory', 'memory_capacity', 'GB', 1e9)),
  ofFacts('power', ofFact('power limit', 'board_power', 'W', 1)),
  ofFacts('links', ofFact('links', 'link_bandwidth', 'GB/s', 1e9), ['links', 'domain']),
  {
    put: (state, from) => withDevice(state, {peaks: deviceOf(from).peaks, vendor: deviceOf(from).vendor}),
    says: (one, other) => against('peak arithmetic', peakOf(one) / 1e12, peakOf(other) / 1e12, 'TFLOP/s'),
  },
  {
    put: (state, from) => withDevice(state, {given: {...pick(deviceOf(state).given, GROUPED), ...drop(deviceOf(from).given, GROUPED)}, joules: deviceOf(from).joules}),
    says: () => 'constants of energy measured on each device',
  },
  {put: (state, from) => (state.choices.hardware === from.choices.hardware ? state : instead(state, from.choices.hardware, deviceOf(state))), says: () => 'constants fitted to each device'},
  {
    put: (state, from) => asStated(state, from, 'price', 'price', 3600),
    says: ofGiven('price', 'price', 'USD/h', 1 / 3600),
  },
  {
    put: (state, from) => asStated(state, from, 'intensity', 'grid_intensity', 3.6e6),
    says: ofGiven('grid', 'grid_intensity', 'g/kWh', 1 / 3.6e6),
  },
  {put: (state, from) => asStated(state, from, 'pue', 'pue', 1), says: ofGiven('PUE', 'pue', '', 1)},
  ofChoice(['arithmetic'], (one, other) => against('arithmetic reached', one.choices.arithmetic ?? 100, other.choices.arithmetic ?? 100, '%')),
  ofChoice(['bandwidth'], (one, other) => against('bandwidth reached', one.choices.bandwidth ?? 100, other.choices.bandwidth ?? 100, '%')),
];

// Of nothing at all, the smallest number there is: what is paid or emitted may be stated as 0.
const logs = ({records, choices}) => Object.fromEntries(Object.entries(outcomes(records, choices)).map(([key, found]) => [key, Math.log(found || (found === 0 ? Number.MIN_VALUE : NaN))]));

const mean = list => list.reduce((sum, one) => sum + one, 0) / list.length; // of one that cannot be, the other

// Whether an input is another one at all.
const differ = (one, other) => one !== other && [one, other].map(state => JSON.stringify([state.choices, deviceOf(state)])).reduce((a, b) => a !== b);

// The reason for each result of ``answer`` that differs from the first one's, by its key.
export function reasons(records, first, answer) {
  const [from, to] = [first, answer].map(one => ({records, choices: one.choices})), [before, after] = [from, to].map(logs);
  const moved = INPUTS.map(({put, says}) => ({says, there: put(from, to), back: put(to, from)})).filter(({there}) => differ(from, there)).map(({says, ...states}) => {
    const [there, back] = [logs(states.there), logs(states.back)];
    return {says, by: key => mean([there[key] - before[key], after[key] - back[key]].filter(Number.isFinite))};
  });
  const found = {};
  for (const key of Object.keys(after)) {
    const whole = after[key] - before[key];
    if (!(Math.abs(whole) > 5e-4)) continue;
    const shares = moved.map(({says, by}) => [by(key) / whole, says]).filter(([share]) => share >= WORTH).sort(([a], [b]) => b - a);
    const most = shares.slice(0, shares[0]?.[0] >= ENOUGH ? 1 : 2).map(([, says]) => says(to, from));
    found[key] = `${limits(key, first.values, answer.values)}${most.join('; ') || 'several inputs together'}`;
  }
  return found;
}

// What limits the phase that a time is of, in this configuration and, if it is another one, the first.
function limits(key, first, now) {
  if (!PHASE[key]) return '';
  const [was, is] = [first, now].map(values => winner(values, PHASE[key]).split(',')[0]);
  return `${is}-bound${is === was ? '' : `, not ${was}-bound`}: `;
}

// The answers, and with each but the first why it differs.
export const compared = (records, [first, ...others]) => [first, ...others.map(one => ({...one, reasons: one.runs && first.runs ? reasons(records, first, one) : {}}))];
