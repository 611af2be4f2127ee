// Choices in the page's address: only what differs from the first view, and nothing taken on trust.

import {nearest} from './nearest.mjs';
import {shownOn} from './points.mjs';

export const LIMITS = { // steps of a slider, in ms; the last one asks for nothing
  itl: [2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 75, 100, 200, ''],
  ttft: [20, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10000, 30000, ''],
};
export const LISTS = ['family', 'model', 'device', 'weights', 'tp'];
export const MOST_NAMES = 12, LONGEST = 40;
export const FIRST = {
  x: 'itl', y: 'cost_per_token', basis: 'predicted', isl: 1024, batch: 'best', runs: 'yes', front: '', sort: 'y', down: '',
  itl: '', ttft: '', family: [], model: ['deepseek-v3'], device: [], weights: [], tp: [], at: '', names: {},
};
// Links were sent while bounds were the first view: an address that asks for something and names no
// basis goes on meaning bounds.  So every address that is written names its basis, and the bare one
// is the first view.
const SENT = 'bound';
const PLAIN = ['basis', 'x', 'y', 'isl', 'batch', 'runs', 'front', 'sort', 'down', 'itl', 'ttft', 'at'];

const clipped = text => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

// What each list can hold: [value, what it is called].
export function known(points) {
  return {
    family: points.families.map(([name]) => [name, name]),
    model: points.models.map(({id, name}) => [id, name]),
    device: points.devices.map(({id, name}) => [id, name]),
    weights: points.formats.map(id => [id, id]),
    tp: points.tps.map(tp => [String(tp), String(tp)]),
  };
}

// What a plain choice can be; of an axis it depends on what stands on it.
export function allowed(points, choices) {
  const keys = shownOn(points, choices.basis).map(({key}) => key);
  return {
    basis: ['bound', 'predicted'], x: [...keys, 'batch'], y: keys, isl: points.isls, batch: ['best', 'all', ...points.batches],
    runs: ['yes', 'no'], front: ['', 'only'], sort: ['y', ...keys, 'batch'], down: ['', 'down'], itl: LIMITS.itl, ttft: LIMITS.ttft,
  };
}

const cleaned = text => text.replace(/[\p{C}\s]+/gu, ' ').trim();

// The name that a reader gives a point: one line, not long.
export const nameOf = text => [...cleaned(text)].slice(0, LONGEST).join('');

// The choices of an address, one sentence on what was ignored in it, and what comes nearest to that.
export function read(points, search) {
  const query = new URLSearchParams(search), choices = structuredClone(FIRST), ignored = [], offers = [];
  const ignore = (name, text, options, change) => {
    const near = nearest(text, options), called = near && (near[1] === String(near[0]) ? near[1] : `${near[1]}, ${near[0]}`);
    ignored.push(`${name} cannot be “${clipped(cleaned(text))}”${near ? `, the nearest is ${called}` : ''}`);
    if (near) offers.push({says: `${name}: ${near[1]}`, change: change(near[0])});
  };
  if ([...PLAIN, ...LISTS, 'name'].some(name => query.has(name))) choices.basis = SENT;
  for (const name of PLAIN) {
    if (!query.has(name)) continue;
    const text = query.get(name);
    const can = name === 'at' ? [text].filter(id => points.places.has(id)) : allowed(points, choices)[name], found = can.find(one => String(one) === text);
    if (found === undefined) ignore(name, text, can.filter(one => one !== '').map(one => [one, String(one)]), near => ({[name]: near})); else choices[name] = found;
  }
  const lists = known(points);
  for (const name of LISTS) {
    if (!query.has(name)) continue;
    const asked = new Set(query.get(name).split('~').filter(Boolean));
    choices[name] = lists[name].map(([id]) => id).filter(id => asked.delete(id));
    if (!asked.size) continue;
    const right = choices[name];
    ignore(name, [...asked][0], lists[name], near => ({[name]: lists[name].map(([id]) => id).filter(id => id === near || right.includes(id))}));
    if (!right.length) choices[name] = FIRST[name]; // a name that nobody has does not ask for all
  }
  for (const text of query.getAll('name').slice(0, MOST_NAMES)) {
    const cut = text.indexOf('*'), id = text.slice(0, cut), name = nameOf(text.slice(cut + 1));
    if (cut > 0 && name && points.places.has(id)) choices.names[id] = name; else ignored.push(`no point “${clipped(cleaned(text))}” to name`);
  }
  return {choices: settledAxes(points, choices), offers: offers.slice(0, 5), notice: ignored.length ? `Ignored in the address of this page: ${ignored.slice(0, 5).join('; ')}.` : ''};
}

// Both axes when one is to show what the other does: they change places.
export function turned({x, y}, name, value) {
  if (name === 'x' && value === y) return {y: x};
  return name === 'y' && value === x ? {x: y} : {};
}

// Axes that can be: of an engine not everything is predicted, and no axis shows what the other does.
export function settledAxes(points, choices) {
  const {x, y, sort} = allowed(points, choices), made = {...choices};
  if (!x.includes(made.x)) made.x = FIRST.x;
  if (!y.includes(made.y) || made.y === made.x) made.y = y.find(key => key === FIRST.y && key !== made.x) ?? y.find(key => key !== made.x);
  if (!sort.includes(made.sort) || made.sort === made.y) made.sort = 'y';
  if (made.x === 'batch' && made.batch !== 'all') made.batch = 'all';
  return made;
}

export function write(choices) {
  const query = new URLSearchParams();
  for (const name of PLAIN) {
    const silent = name === 'basis' || (name === 'batch' && choices.x === 'batch'); // said below; follows from the axis
    if (choices[name] !== FIRST[name] && !silent) query.set(name, choices[name]);
  }
  for (const name of LISTS) if (choices[name].join('~') !== FIRST[name].join('~')) query.set(name, choices[name].join('~'));
  for (const [id, name] of Object.entries(choices.names)) query.append('name', `${id}*${name}`);
  if (!query.size && choices.basis === FIRST.basis) return '';
  return String(new URLSearchParams([['basis', choices.basis], ...query]));
}
