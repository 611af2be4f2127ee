// A card of the reader's own: what it states, as a record of the page, in the address, and as the
// record that Python reads.  No source stands behind it, and every form of it says so.

import {decimal} from './text.mjs';
import {GIGA} from './words.mjs';

// Least, most, unit, base units in one, symbol; a peak has the number format behind its @.
export const CARD = {
  memory: [0.1, 1e5, 'GB', 1e9, 'memory_capacity'],
  bandwidth: [0.1, 1e6, 'GB/s', 1e9, 'hbm_bandwidth'],
  bf16: [0.01, 1e6, 'TFLOP/s', 1e12, 'peak_flops@bf16'],
  fp8: [0.01, 1e6, 'TFLOP/s', 1e12, 'peak_flops@fp8'],
  int8: [0.01, 1e6, 'TFLOP/s', 1e12, 'peak_flops@int8'],
  fp4: [0.01, 1e6, 'TFLOP/s', 1e12, 'peak_flops@fp4'],
  power: [1, 1e5, 'W', 1, 'board_power'],
  link: [0.1, 1e5, 'GB/s', 1e9, 'link_bandwidth'],
  joined: [1, 1024, '', 1, 'scale_up_size'],
  price: [0, 1e6, 'USD/h', 1 / 3600, ''],
};
const NEEDED = ['memory', 'bandwidth', 'bf16'];
const SAYS = {memory: 'memory', bandwidth: 'memory bandwidth', bf16: 'peak in bf16', fp8: 'peak in fp8', int8: 'peak in int8', fp4: 'peak in fp4', power: 'power limit', link: 'link bandwidth', joined: 'cards joined by links', price: 'price'};
export const OWN_CARD = 'your own card (unsourced)';

// What a reader states, a text a field, as a device: [device, ''], or [null, what is wrong].
export function carded(texts) {
  const stated = {}, unit = texts.unit === 'GiB' ? 'GiB' : 'GB';
  for (const [name, [least, most, of]] of Object.entries(CARD)) {
    const text = texts[name] ?? '';
    if (text === '') {
      if (NEEDED.includes(name)) return [null, `a card needs its ${SAYS[name]}`];
      continue;
    }
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : NaN, whole = name !== 'joined' || Number.isInteger(value);
    if (!(value >= least && value <= most && whole)) return [null, `${SAYS[name]} must be a ${name === 'joined' ? 'whole ' : ''}number from ${least} to ${most}${of && ` ${name === 'memory' ? unit : of}`}`];
    stated[name] = value;
  }
  if ((stated.link === undefined) !== (stated.joined === undefined)) return [null, 'links need both their bandwidth and how many cards they join'];
  return [made(stated, unit), ''];
}

function made(stated, unit) {
  const base = name => stated[name] * (name === 'memory' ? GIGA[unit] : CARD[name][3]), has = name => stated[name] !== undefined;
  const given = {}, peaks = {};
  for (const name of Object.keys(stated)) {
    const [symbol, format] = CARD[name][4].split('@');
    if (format) peaks[format] = base(name); else if (symbol && name !== 'joined') given[symbol] = base(name);
  }
  return {
    name: OWN_CARD, vendor: 'nvidia', // by whose cards the formats are named
    given, peaks, joules: {}, domain: stated.joined ?? null, links: {link: has('link') ? base('link') : null, host: null, out: null},
    offers: has('price') ? [{provider: 'your own', price: base('price'), kind: 'on-demand', date: ''}] : [], stated, unit,
  };
}

// In the address: "memory-80GiB*bandwidth-2000*bf16-400".
export const packedCard = ({stated, unit}) => Object.entries(stated).map(([name, value]) => `${name}-${decimal(value)}${name === 'memory' ? unit : ''}`).join('*');

export function unpackedCard(text) {
  const texts = {};
  for (const part of text.split('*')) {
    const [, name, value, unit] = /^(\w+)-([\d.]{1,20}(?:e-\d{1,2})?)(GB|GiB)?$/.exec(part) ?? [];
    if (!Object.hasOwn(CARD, name ?? '') || Boolean(unit) !== (name === 'memory')) return null;
    texts[name] = value.includes('e') ? decimal(Number(value)) : value; // as links were once written
    if (unit) texts.unit = unit;
  }
  return carded(texts)[0];
}

const written = ({stated, unit}, name) => `${decimal(stated[name])}${name === 'memory' ? ` ${unit}` : CARD[name][2] && ` ${CARD[name][2]}`}`;

// In words: "memory 80 GiB, memory bandwidth 2000 GB/s, …".
export const cardWords = card => Object.keys(card.stated).map(name => `${SAYS[name]} ${written(card, name)}`).join(', ');

// Commands that put the card, and its price, where Python looks for a reader's own records.
export function cardCommands(card) {
  const facts = Object.keys(card.stated).filter(name => CARD[name][4]);
  const lines = [
    'mkdir -p my-data/hardware my-data/prices', "cat > my-data/hardware/own.yaml <<'END'", 'id: own', `name: ${OWN_CARD}`, 'about: {vendor: nvidia}', 'facts:',
    ...facts.map(name => `  ${CARD[name][4]}: {value: ${written(card, name)}, source: [unsourced], where: stated by the reader}`), 'END',
  ];
  if (card.stated.price === undefined) return lines;
  return [...lines, "cat > my-data/prices/own.yaml <<'END'", 'id: own', `name: ${OWN_CARD}, its price`, 'about: {device: own}', 'offers:',
    `  - {provider: your own, price: ${written(card, 'price')}, date: stated by the reader, source: unsourced, kind: on-demand}`, 'END'];
}
