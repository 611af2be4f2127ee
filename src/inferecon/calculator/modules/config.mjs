// A model from its config.json, by the rules of configs.py; the rules themselves are printed from
// the same expressions.  A test reads the same files on both sides, and mistakes word for word.

import {functions, rules, stated} from './architectures.mjs';
import {formatOf} from './quantised.mjs';
import {commas} from './words.mjs';

class Refused extends Error {}
const refuse = says => { throw new Refused(says); };
const plain = value => value !== null && typeof value === 'object' && !Array.isArray(value);

function loads(text) {
  if (text.length > stated.longest) refuse(`a config.json has at most ${commas(stated.longest)} letters`);
  let config;
  try {
    config = JSON.parse(text.replace(/^\ufeff/, '')); // a mark of some editors before the text
  } catch {
    refuse('this is not JSON: paste the whole config.json');
  }
  return plain(config) ? translated(config) : refuse('this JSON is no config.json: it has no keys');
}

// A file of DeepSeek's own inference code with the keys of a config.json; any other as it is.
function translated(config) {
  const has = name => Object.hasOwn(config, name);
  if (has('architectures') || !stated.marks.every(has)) return config;
  const found = {};
  for (const [ours, theirs, value] of stated.deepseek) {
    const stands = has(theirs) ? config[theirs] : value;
    if (stands !== null) found[ours] = stands;
  }
  const known = (name, table, usual) => {
    const word = has(name) ? config[name] : usual;
    return typeof word === 'string' && Object.hasOwn(table, word) ? table[word]
      : refuse(`${name} must be one of ${Object.keys(table).join(', ')}`);
  };
  return {...found, architectures: [known('score_func', stated.scored, 'softmax')],
    torch_dtype: known('dtype', stated.stored, 'bf16'), ...(config.dtype === 'fp8' && {quantization_config: {quant_method: 'fp8'}})};
}

const merged = config => (plain(config.text_config) ? {...config, ...config.text_config} : config);
const kindOf = value => (value === null ? 'null' : typeof value === 'string' ? 'text' : Array.isArray(value) ? 'a list' : 'an object');

// Every number by its key, and of a list how long it is and what is in it.
function flat(config) {
  const values = new Map();
  for (const [name, value] of Object.entries(merged(config))) {
    if (typeof value === 'boolean' || typeof value === 'number') values.set(name, Number(value));
    else if (Array.isArray(value)) {
      values.set(`${name}_length`, value.length);
      for (const one of value) if (typeof one === 'string') values.set(`${name}_${one}`, (values.get(`${name}_${one}`) ?? 0) + 1);
    }
  }
  return values;
}

function architecture({architectures: named}) {
  const name = Array.isArray(named) ? named[0] : undefined;
  if (typeof name !== 'string') refuse('config.json states no architectures, so its keys cannot be read');
  if (!Object.hasOwn(rules, name)) refuse(`no rule for the architecture ${name.slice(0, 60)}; known: ${Object.keys(rules).join(', ')}`);
  return name;
}

function facts(config) {
  const name = architecture(config), values = flat(config), rule = rules[name], keys = merged(config);
  for (const one of rule.reads.filter(key => Object.hasOwn(keys, key) && !['number', 'boolean'].includes(typeof keys[key]))) {
    if (keys[one] !== null || rule.needs.includes(one)) refuse(`${one} must be a number, not ${kindOf(keys[one])}`);
  }
  const lacking = rule.needs.filter(one => !values.has(one));
  if (lacking.length) refuse(`config.json of ${name} states no ${lacking.join(', ')}`);
  const found = Object.entries(functions[name](Object.fromEntries(values)));
  for (const [symbol, value] of found) {
    const refused = /^refused_(\d+)$/.exec(symbol);
    if (refused && value) refuse(`the rule for ${name} does not cover ${rule.refuses[refused[1]]}`);
  }
  const known = found.filter(([symbol]) => !symbol.startsWith('refused_'));
  const wrong = impossible(Object.fromEntries(known));
  if (wrong) refuse(wrong);
  for (const one of rule.reads) if (values.get(one) < 0 && !stated.noneBelow.includes(one)) refuse(`${one} must not be below zero`);
  return Object.fromEntries(known.filter(([, value]) => value));
}

// Why no model has such facts, in one sentence; empty if one may.
function impossible(known) {
  for (const [symbol, value] of Object.entries(known)) {
    const least = known[stated.usedBy[symbol]] > 0 || stated.positive.includes(symbol) ? 1 : 0, most = stated.limits[symbol] ?? stated.most;
    if (!(least <= value && value <= most && Number.isInteger(value))) return `${symbol} must be a whole number from ${least} to ${commas(most)}`;
  }
  for (const shared of [known.n_kv_heads, known.local_kv_heads]) {
    if (shared && known.n_heads % shared) return `${shared} heads of keys and values do not divide the ${known.n_heads} heads`;
  }
  const {top_k: chosen = 0, n_experts: experts = 0} = known;
  return chosen > experts ? `a token cannot go to ${chosen} experts where there are ${experts}` : '';
}

function native(config) {
  const inner = plain(config.text_config) ? config.text_config : {};
  const named = [config, inner].flatMap(one => [one.torch_dtype, one.dtype]);
  const known = named.find(one => typeof one === 'string' && Object.hasOwn(stated.widths, one));
  return known ? stated.widths[known] : refuse(`config.json states no torch_dtype of ${Object.keys(stated.widths).join(', ')}`);
}

// The number format that the weights are stored in, of a file that was taken, and a sentence on it.
export function storedIn(text) {
  const config = loads(text);
  return formatOf(config, native(config));
}

// Facts and number format from the text of a file: [model, ''], or [null, what is wrong].
export function parsed(text) {
  try {
    const config = loads(text), found = facts(config);
    return [model(found, native(config)), ''];
  } catch (error) {
    if (error instanceof Refused) return [null, error.message];
    throw error;
  }
}

// A model as the records of the page have it.
function model(found, format) {
  const {max_context: context, ...given} = found;
  return {name: 'your own model', native: format, context, given};
}

// In the address: "native-bf16*max_context-131072*hidden_size-4096".
export function packed({native: format, context, given}) {
  const parts = Object.entries({native: format, max_context: context, ...given});
  return parts.map(([name, value]) => `${name}-${value}`).join('*');
}

export function unpacked(records, text) {
  const found = {};
  let format = '';
  for (const part of text.split('*')) {
    const [, name, value] = /^(\w+)-(\w+)$/.exec(part) ?? [];
    if (name === 'native' && Object.values(stated.widths).includes(value)) format = value;
    else if ((name === 'max_context' || records.zeros.includes(name)) && /^\d{1,16}$/.test(value)) found[name] = Number(value);
    else return null;
  }
  const needed = [...stated.positive, ...Object.entries(stated.usedBy).filter(([, layers]) => found[layers] > 0).map(([name]) => name)];
  return format && needed.every(name => found[name] >= 1) && !impossible(found) ? model(found, format) : null;
}
