// The number format on record that a config.json says its weights are stored in, by the rules of
// quantised.py.  A test reads the same files on both sides.

import {stated} from './architectures.mjs';

const object = value => value !== null && typeof value === 'object' && !Array.isArray(value);
const word = value => (typeof value === 'string' ? [...value].slice(0, stated.letters).join('') : 'unnamed');
// A whole number; -1 stands for a whole row.
const count = value => (Number.isInteger(value) && value >= -1 && value <= 1e6 ? value : null);
const key = (from, name, other) => (Object.hasOwn(from, name) ? from[name] : from[other]);

// The format of the weights, and a sentence on where it comes from.
export function formatOf(config, native) {
  const [how] = [config, config.text_config].filter(object).map(one => one.quantization_config).filter(object);
  if (!how) return [native, `weights in ${native}, as its config.json has them`];
  const [says, group] = said(how);
  if (!Object.hasOwn(stated.quantised, says)) return [native, `the quantisation of its config.json (${says}) was not read, so weights are taken in ${native}`];
  const found = stated.quantised[says], usual = stated.grouped[found] ?? group;
  if (group === null || group === usual) return [found, `weights in ${found}, as its config.json has them`];
  return [found, `weights in ${found}, the nearest format on record to that of its config.json (${says}, in ${group === -1 ? 'a row' : `groups of ${group}`})`];
}

// What a file says of its quantisation, and how many weights share a scale.
function said(how) {
  const method = word(how.quant_method);
  if (method === 'modelopt') return [`${method}, ${word(how.quant_algo)}`, null];
  if (method === 'bitsandbytes') {
    if (how.load_in_4bit !== true) return [method, null];
    return [`${method}, 4 bits, ${word(how.bnb_4bit_quant_type)}${how.bnb_4bit_use_double_quant === true ? ', twice' : ''}`, null];
  }
  if (method === 'compressed-tensors') return compressedTensors(method, how);
  const bits = count(key(how, 'bits', 'w_bit'));
  if (bits === null) return [method, null];
  const skew = how.zero_point === false ? ', symmetric' : how.sym === false ? ', asymmetric' : '';
  return [`${method}, ${bits} bits${skew}`, count(key(how, 'group_size', 'q_group_size'))];
}

function compressedTensors(method, {config_groups: groups, ignore}) {
  const all = object(groups) ? Object.values(groups) : [];
  if (all.length !== 1 || !object(all[0])) return [`${method}, ${all.length} groups`, null];
  const [{weights, input_activations: activations}] = all;
  if (!object(weights)) return [method, null];
  const kind = word(Object.hasOwn(weights, 'type') ? weights.type : 'int'), bits = count(weights.num_bits), group = count(weights.group_size);
  const attention = Array.isArray(ignore) && ignore.some(one => typeof one === 'string' && one.includes('attn'));
  if (kind === 'int' && bits === 4 && group === 32 && attention) return [`${method}, int, 4 bits in groups of 32, experts alone`, null];
  const inside = kind === 'float' && bits === 4 && group !== null;
  const skew = weights.symmetric === false ? ', asymmetric' : '', both = object(activations) ? ', activations too' : '';
  return [`${method}, ${kind}, ${bits ?? '?'} bits${inside ? ` in groups of ${group}` : ''}${skew}${both}`, inside ? null : group];
}
