// What keeps a combination from running, by how much, and the nearest changes that let it run.

import {activationsFor, bytesOf, expertsDivide, headsDivide, runs, settled, solve} from './scenario.mjs';
import {bytes, commas} from './words.mjs';

const able = (records, choices) => {
  const [whole, wrong] = settled(records, choices);
  return !wrong && runs(records, whole);
};

// By how much memory is short on each device; empty if it is not.
export function shortage(values, unit) {
  const over = values.memory_needed - values.memory_available;
  return over > 0 ? `${bytes(over, unit)} too much on each device: ${bytes(values.memory_needed, unit)} are needed, ${bytes(values.memory_available, unit)} may be used` : '';
}

// Changes that let it run, each one thing at a time: what they say and what they set.
export function changes(records, raw) {
  const [choices, wrong] = settled(records, raw);
  const found = wrong ? ofShape(records, raw, choices) : [
    ...ofBatch(records, choices), ...ofLength(records, choices), ...ofCache(records, choices),
    ...ofWeights(records, choices), ...ofDevices(records, choices),
  ];
  found.push(...ofHardware(records, raw));
  return found.filter(({set}) => able(records, {...raw, ...set}));
}

// A shape that is refused: leave the devices open, or shorten the prompt.
function ofShape(records, raw, {model, osl}) {
  const room = records.models[model].context - osl;
  const found = [{says: 'as many devices as hold it', set: {tp: null, ep: null}}];
  if (room >= 1) found.push({says: `${commas(room)} tokens in: all that the context leaves`, set: {isl: Math.min(room, raw.isl)}});
  return found;
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

// The widest of some formats, narrower than now, with which it runs.
function narrower(records, choices, name, ids, set) {
  const row = records.models[choices.model].given.hidden_size;
  const wide = id => bytesOf(records, id, row);
  return ids.filter(id => wide(id) < wide(choices[name])).sort((a, b) => wide(b) - wide(a)).find(id => able(records, {...choices, ...set(id)}));
}

function ofCache(records, choices) {
  const id = narrower(records, choices, 'kv', records.roles.kv, kv => ({kv}));
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

// The fewest devices of one domain, in any split that the model allows.
function ofDevices(records, choices) {
  const domain = records.hardware[choices.hardware].domain ?? 1;
  const splits = [];
  for (const tp of headsDivide(records, choices.model)) {
    for (const ep of expertsDivide(records, choices.model)) {
      const allowed = ep === 1 || (ep >= tp && ep % tp === 0);
      if (allowed && Math.max(tp, ep) <= domain) splits.push({tp, ep});
    }
  }
  splits.sort((a, b) => Math.max(a.tp, a.ep) - Math.max(b.tp, b.ep) || a.tp - b.tp);
  const set = splits.find(one => runs(records, {...choices, ...one}));
  if (!set) return [];
  const devices = Math.max(set.tp, set.ep);
  return [{says: `${commas(devices)} device${devices > 1 ? 's' : ''} (TP ${set.tp}, EP ${set.ep})`, set}];
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
