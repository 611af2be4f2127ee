// What keeps a combination from running, by how much, and the nearest changes that let it run.

import {activationsFor, bytesOf, expertsDivide, headsDivide, runs, settled, solve} from './scenario.mjs';
import {bytes, commas, several} from './words.mjs';

const able = (records, choices) => {
  const [whole, wrong] = settled(records, choices);
  return !wrong && runs(records, whole);
};

// By how much memory is short on each device; empty if it is not.
export function shortage(values, unit) {
  const over = values.memory_needed - values.memory_available;
  return over > 0 ? `${bytes(over, unit)} too much on each device: ${bytes(values.memory_needed, unit)} are needed, ${bytes(values.memory_available, unit)} may be used` : '';
}

// Changes that let it run: what they say and what they set.  First each alone, then pairs of
// which neither is enough.
export function changes(records, raw) {
  const [choices, wrong] = settled(records, raw), enough = ({set}) => able(records, {...raw, ...set});
  if (wrong) {
    const shapes = ofShape(records, raw), alone = [...shapes, ...ofHardware(records, raw)].filter(enough);
    return alone.length ? alone : allowed(records, raw, shapes);
  }
  const found = [
    ...ofBatch(records, choices), ...ofLength(records, choices), ...ofCache(records, choices),
    ...ofWeights(records, choices), ...ofDevices(records, choices), ...ofHardware(records, raw),
  ];
  return [...found.filter(enough), ...twoAtOnce(records, raw, choices)];
}

// A shape that is allowed may still be too much: each with the nearest change that then lets it run.
function allowed(records, raw, shapes) {
  const found = new Map();
  for (const {says, set} of shapes) {
    const next = {...raw, ...set};
    if (Object.entries(set).every(([name, value]) => (raw[name] ?? null) === value)) continue;
    for (const other of changes(records, next).slice(0, 3)) {
      const both = {...set, ...other.set}, again = Object.keys(set).filter(name => name in other.set), replaced = again.length === Object.keys(set).length;
      if (again.length && !replaced) continue; // what the first says would no longer be so
      const key = JSON.stringify(Object.entries(both).sort());
      if (!found.has(key)) found.set(key, {says: replaced ? other.says : `${says}, and ${other.says}`, set: both});
    }
  }
  return [...found.values()].filter(({set}) => able(records, {...raw, ...set})).slice(0, 5);
}

// A shape that is refused: leave the devices open, or shorten prompt and answer to the context.
function ofShape(records, raw) {
  const {context} = records.models[raw.model], {isl, osl} = raw, found = [{says: 'as many devices as hold it', set: {tp: null, ep: null}}];
  if (isl + osl <= context) return found;
  if (context > osl) found.push({says: `${commas(context - osl)} tokens in: all that the context leaves`, set: {isl: context - osl}});
  if (context > isl) found.push({says: `${commas(context - isl)} tokens out: all that the context leaves`, set: {osl: context - isl}});
  const prompt = Math.max(1, Math.floor(context * isl / (isl + osl)));
  return [...found, {says: `${commas(prompt)} tokens in and ${commas(context - prompt)} out: all that the context holds`, set: {isl: prompt, osl: context - prompt}}];
}

// Two changes at once where neither is enough: narrower formats, devices, another card, the batch
// that then fits; of each kind of pair the nearest.
function twoAtOnce(records, raw, choices) {
  const row = records.models[choices.model].given.hidden_size, wide = id => bytesOf(records, id, row);
  const narrow = (ids, now) => ids.filter(id => wide(id) < wide(now)).sort((a, b) => wide(b) - wide(a));
  const moves = {
    weights: narrow(records.common.formats, choices.weights).map(id => ({says: `weights in ${id}`, set: {weights: id, activations: null}})),
    cache: narrow(caches(records, choices), choices.kv).map(kv => ({says: `KV cache in ${kv}`, set: {kv}})),
    devices: raw.tp == null ? [] : [{says: 'as many devices as hold it', set: {tp: null, ep: null}}],
    card: records.common.hardware.filter(id => id !== raw.hardware).map(id => ({says: `on ${records.hardware[id].name}`, set: {hardware: id, provider: '', tp: null, ep: null}})),
  };
  const enough = new Set(Object.values(moves).flat().filter(({set}) => able(records, {...raw, ...set})));
  const left = Object.fromEntries(Object.entries(moves).map(([kind, list]) => [kind, list.filter(one => !enough.has(one))])), found = [];
  for (const [one, other] of [['weights', 'cache'], ['weights', 'devices'], ['weights', 'card'], ['cache', 'devices'], ['cache', 'card']]) {
    const both = left[one].flatMap(first => left[other].map(second => ({says: `${first.says} and ${second.says.replace('KV cache', 'cache')}`, set: {...first.set, ...second.set}})));
    found.push(...both.filter(({set}) => able(records, {...raw, ...set})).slice(0, 1).map(one => withCount(records, raw, one)));
  }
  const batched = Object.values(left).flat().flatMap(({says, set}) => {
    const [whole, wrong] = settled(records, {...raw, ...set}), batch = wrong ? 0 : solve(records, whole).largest_batch;
    return batch >= 1 && batch < choices.batch ? [{says: `${says} and batch ${commas(batch)}`, set: {...set, batch}, batch}] : [];
  });
  const fewer = batched.filter(({set}) => able(records, {...raw, ...set})).sort((a, b) => b.batch - a.batch).slice(0, 1);
  return [...found, ...fewer.map(({says, set}) => withCount(records, raw, {says, set}))].slice(0, 3);
}

// The same, where it is another card with how many of them.
function withCount(records, raw, {says, set}) {
  if (!set.hardware) return {says, set};
  const [{tp, ep}] = settled(records, {...raw, ...set}), {name} = records.hardware[set.hardware];
  return {says: says.replace(`on ${name}`, () => `on ${Math.max(tp, ep)} × ${name}`), set};
}

// The fewest devices of more than one scale-up domain that would hold it, in words; empty if none would.
export function beyond(records, raw) {
  const [choices, wrong] = settled(records, raw);
  if (wrong) return '';
  const domain = records.hardware[choices.hardware].domain ?? 1;
  const holds = splits(records, choices).filter(({tp, ep}) => {
    const values = Math.max(tp, ep) > domain ? solve(records, {...choices, tp, ep}) : {};
    return values.memory_needed <= values.memory_available;
  });
  if (!holds.length) return '';
  // of as many devices the split that keeps a matrix inside a domain, over as much of it as it can
  const same = holds.filter(({tp, ep}) => Math.max(tp, ep) === Math.max(holds[0].tp, holds[0].ep));
  const set = same.filter(({tp}) => tp <= domain).at(-1) ?? same.at(-1);
  const devices = Math.max(set.tp, set.ep), held = `${commas(devices)} of this device (TP ${set.tp}, EP ${set.ep})`;
  return domain > 1 ? `${held}, ${commas(Math.ceil(devices / domain))} scale-up domains of ${domain}, would hold it; times across domains are not derived here.`
    : `${held} would hold it; no link between them is on record, so no time is derived.`;
}

function ofBatch(records, choices) {
  const most = solve(records, choices).largest_batch;
  return most >= 1 && most < choices.batch ? [{says: `batch ${commas(most)}, the largest that fits`, set: {batch: most}}] : [];
}

// The longest prompt that fits, found by halving.
function ofLength(records, choices) {
  let [fits, not] = [0, choices.isl];
  while (not - fits > 1) {
    const middle = Math.floor((fits + not) / 2);
    if (runs(records, {...choices, isl: middle})) fits = middle; else not = middle;
  }
  return fits ? [{says: `${commas(fits)} tokens in, the most that fit`, set: {isl: fits}}] : [];
}

// Formats of the cache; one that is made for a latent is for no other.
const caches = (records, {model}) => records.roles.kv.filter(id => records.models[model].given.n_mla_layers || !records.formats[id].latent);

// The widest of some formats, narrower than now, with which it runs.
function narrower(records, choices, name, ids, set) {
  const row = records.models[choices.model].given.hidden_size;
  const wide = id => bytesOf(records, id, row);
  return ids.filter(id => wide(id) < wide(choices[name])).sort((a, b) => wide(b) - wide(a)).find(id => able(records, {...choices, ...set(id)}));
}

function ofCache(records, choices) {
  const id = narrower(records, choices, 'kv', caches(records, choices), kv => ({kv}));
  return id ? [{says: `KV cache in ${id}`, set: {kv: id}}] : [];
}

function ofWeights(records, choices) {
  const set = weights => ({weights, activations: activationsFor(records, weights)});
  const id = narrower(records, choices, 'weights', records.common.formats, set);
  const found = id ? [{says: `weights in ${id}`, set: set(id)}] : [];
  const same = choices.activations !== 'bf16' && able(records, {...choices, activations: 'bf16'});
  if (same) found.push({says: 'activations in bf16', set: {activations: 'bf16'}});
  if (!id && able(records, {...choices, ...set('bf16')})) found.push({says: 'weights in bf16', set: set('bf16')});
  return found;
}

// Every split over devices that the model allows, the fewest devices first.
function splits(records, choices) {
  const found = headsDivide(records, choices.model).flatMap(tp => expertsDivide(records, choices.model).map(ep => ({tp, ep})));
  const allowed = found.filter(({tp, ep}) => ep === 1 || (ep >= tp && ep % tp === 0));
  return allowed.sort((a, b) => Math.max(a.tp, a.ep) - Math.max(b.tp, b.ep) || a.tp - b.tp);
}

// The fewest devices of one domain, in any split that the model allows.
function ofDevices(records, choices) {
  const domain = records.hardware[choices.hardware].domain ?? 1;
  const set = splits(records, choices).find(one => Math.max(one.tp, one.ep) <= domain && runs(records, {...choices, ...one}));
  if (!set) return [];
  return [{says: `${several(Math.max(set.tp, set.ep), 'device')} (TP ${set.tp}, EP ${set.ep})`, set}];
}

// Another device of those that are swept most: the fewest of them, then the smallest.
function ofHardware(records, raw) {
  const found = [];
  for (const hardware of records.common.hardware) {
    const [choices, wrong] = settled(records, {...raw, hardware, provider: '', tp: null, ep: null});
    if (hardware === raw.hardware || wrong || !runs(records, choices)) continue;
    const size = records.hardware[hardware].given.memory_capacity;
    found.push({hardware, devices: Math.max(choices.tp, choices.ep), size});
  }
  found.sort((a, b) => a.devices - b.devices || a.size - b.size);
  return found.slice(0, 1).map(({hardware, devices}) => ({
    says: `${devices} × ${records.hardware[hardware].name}`,
    set: {hardware, provider: '', tp: null, ep: null},
  }));
}
