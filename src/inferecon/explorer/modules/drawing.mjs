// The chart as a tree: one colour a model family, one shape a device class, filled where a value
// is a bound and hollow where it is predicted.

import {amount, called, ends, how, reader} from './points.mjs';
import {wrapped} from './svg.mjs';
import {commas, digits, several} from './words.mjs';

const SHAPES = [
  r => `m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  r => `m0 ${-1.2 * r}l${1.1 * r} ${1.9 * r}h${-2.2 * r}z`,
  r => `m${-0.9 * r} ${-0.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z`,
  r => `m0 ${-1.25 * r}l${1.25 * r} ${1.25 * r}l${-1.25 * r} ${1.25 * r}l${-1.25 * r} ${-1.25 * r}z`,
];
const DASHES = {bf16: null, fp8: '7 3', 'int8-w8a8': '2 3', 'int4-awq': '9 3 2 3', nvfp4: '4 4'};
const CROWD = 500; // points, of which those that are beaten step back
const FAINT = 0.22;
const LABELLED = 24; // lines that have their names beside them
const ROOM = 200; // for these names, in pixels
const one = value => Math.round(value * 10) / 10;
const BASIS = {bound: 'derived bound', predicted: 'predicted'};

export const titled = (points, key) => (key === 'batch' ? {says: 'batch', unit: 'requests at once'} : points.metrics[key]);
const axisTitle = (points, key, basis) => {
  const {says, unit, foretold} = titled(points, key);
  return `${basis === 'predicted' && foretold ? foretold : says} (${unit})`;
};

// What the chart shows, in a sentence: its title, and with the ends of the front its text alternative.
export function finding(points, view, choices) {
  const {shown, edge, over} = view, {x, y, basis} = choices, what = basis === 'bound' ? 'derived bounds' : `predicted for ${points.engine}`;
  if (!shown.length) return 'No point is left';
  if (over) return `${fall(points, view, choices)} (${what})`;
  const say = n => [x, y].map(key => `${digits(amount(points, key, basis, n))} ${titled(points, key).unit}`).join(' at ');
  if (edge.length === 1) return `One point beats all others: ${say(edge[0])} (${what})`;
  return `From ${say(edge[0])} to ${say(edge.at(-1))}: ${edge.length} of ${commas(shown.length)} points are on the front (${what})`;
}

// By which factor a quantity falls from the smallest batch of a line to its largest.
function fall(points, view, {y, basis}) {
  const says = titled(points, y).says, ratios = view.lines.filter(list => list.length > 1).map(list => amount(points, y, basis, list[0]) / amount(points, y, basis, list.at(-1)));
  if (!ratios.length) return `${several(view.lines.length, 'combination')} at one batch each`;
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map(ratio => digits(ratio, 2)), verb = Math.min(...ratios) > 1 ? 'falls' : 'changes';
  return `From the smallest batch to the largest, ${says} ${verb} by a factor of ${least === most ? least : `${least} to ${most}`}`;
}

export function alternative(points, view, choices) {
  const {x, y, basis} = choices, first = view.edge.slice(0, 6).map(n => called(points, n));
  const front = first.length ? ` On the front: ${first.join('; ')}${view.edge.length > 6 ? ', and others' : ''}.` : '';
  return `${finding(points, view, choices)}. Horizontal axis: ${axisTitle(points, x, basis)}; vertical axis: ${axisTitle(points, y, basis)}.${front} The table below has every point.`;
}

function scale(values, from, to, base) {
  const low = Math.log(Math.min(...values)), high = Math.log(Math.max(...values)), room = Math.max((high - low) * 0.04, 0.05);
  const [least, most] = [low - room, high + room];
  const place = value => one(from + (Math.log(value) - least) / (most - least) * (to - from));
  return {place, ticks: base ?? ticks(Math.exp(least), Math.exp(most), Math.abs(to - from))};
}

// Powers of ten, with two and five of them where there is room.
export function ticks(low, high, length) {
  const decades = Math.log10(high / low), each = length / Math.max(decades, 0.3);
  const steps = each > 150 ? [1, 2, 3, 5, 7] : each > 90 ? [1, 2, 5] : each > 45 ? [1, 3] : [1], found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    found.push(...steps.map(step => (power < 0 ? step / 10 ** -power : step * 10 ** power)));
  }
  return found.filter(tick => tick >= low && tick <= high);
}

const short = value => (value >= 1e6 ? `${value / 1e6}M` : value >= 1e4 ? `${value / 1e3}k` : value >= 1e3 ? commas(value) : String(value));

// The tree, and where each point stands; ``size`` has width, height, ink and paper.
export function chart(points, view, choices, {width, height, ink, paper}) {
  const {x, y, basis} = choices, read = {[x]: reader(points, x, basis), [y]: reader(points, y, basis)}, at = (key, n) => read[key](n), named = namedPoints(points, choices);
  const all = [...new Set([...view.shown, ...named])], labelled = view.over && view.lines.length <= LABELLED && width > 600;
  const title = wrapped(finding(points, view, choices), width - 20, 17), top = 18 * title.length + 14;
  const key = legend(points, view, all, choices, width, ink), bottom = height + top;
  const texts = {fill: ink, 'font-family': 'system-ui, sans-serif', 'font-size': 12, stroke: 'none'};
  const head = title.map((line, n) => ['text', {x: 10, y: 18 + 18 * n, 'font-size': 15, 'font-weight': 600}, line]);
  const root = {viewBox: `0 0 ${width} ${bottom + 46 + key.height}`, width, height: bottom + 46 + key.height, ...texts};
  if (!all.length) return {tree: ['svg', root, ...head], places: []};
  const left = 58, right = width - (labelled ? ROOM : 14), spans = [...new Set([...(view.over ? [] : view.edge), ...named, ...(all.length <= 80 ? all : [])])];
  const faint = view.faint.map(n => [x, y].map(name => amount(points, name, basis === 'bound' ? 'predicted' : 'bound', n)));
  const xs = [...all.map(n => at(x, n)), ...faint.map(([one]) => one)], ys = [...all.map(n => at(y, n)), ...faint.map(([, other]) => other)];
  const across = scale(xs, left, right, x === 'batch' ? points.batches : undefined), up = scale(ys, bottom, top);
  const places = all.map(n => [n, across.place(at(x, n)), up.place(at(y, n))]);
  const parts = [
    ...axes(points, choices, across, up, {left, right, top, bottom, width, ink}),
    ...(faint.length > 1 ? [['path', {d: stairs(faint.map(([one, other]) => [across.place(one), up.place(other)])), fill: 'none', stroke: ink, 'stroke-width': 1.2, 'stroke-dasharray': '3 4', opacity: 0.6}]] : []),
    ...(view.over ? view.lines.map(list => run(points, list, n => [across.place(at(x, n)), up.place(at(y, n))])) : []),
    ...(view.edge.length > 1 ? [['path', {d: stairs(view.edge.map(n => [across.place(at(x, n)), up.place(at(y, n))])), fill: 'none', stroke: ink, 'stroke-width': all.length > CROWD ? 2.4 : 1.6}]] : []),
    ...spans.flatMap(n => whiskers(points, choices, n, across, up, {left, right, top, bottom, ink})),
    ...marks(points, view, choices, places, new Set([...view.edge, ...named])),
    ...(labelled ? endings(points, view, n => [across.place(at(x, n)), up.place(at(y, n))], right, ink) : []),
    ...(view.over || width < 600 ? [] : corners(points, view, choices, places, {left, bottom, paper})),
    ...namesOf(points, choices, places, {ink, paper, right, left}),
  ];
  const below = ['g', {transform: `translate(0 ${bottom + 46})`}, ...key.parts];
  return {tree: ['svg', root, ...head, ...parts, below], places};
}

const namedPoints = (points, {names, x, y, basis, at}) => [...new Set([...Object.keys(names), at])].map(id => points.places.get(id))
  .filter(n => n !== undefined && !Number.isNaN(amount(points, x, basis, n) + amount(points, y, basis, n)));

function axes(points, {x, y, basis}, across, up, {left, right, top, bottom, width, ink}) {
  const thin = {stroke: ink, 'stroke-width': 1, opacity: 0.15};
  let last = -99;
  return [
    ...across.ticks.map(tick => ['path', {d: `M${across.place(tick)} ${top}V${bottom}`, ...thin}]),
    ...up.ticks.map(tick => ['path', {d: `M${left} ${up.place(tick)}H${right}`, ...thin}]),
    ...across.ticks.flatMap(tick => {
      const place = across.place(tick);
      if (place - last < 30) return [];
      last = place;
      return [['text', {x: place, y: bottom + 16, 'text-anchor': 'middle'}, short(tick)]];
    }),
    ...up.ticks.map(tick => ['text', {x: left - 6, y: up.place(tick) + 4, 'text-anchor': 'end'}, short(tick)]),
    ['path', {d: `M${left} ${top}V${bottom}H${right}`, fill: 'none', stroke: ink, 'stroke-width': 1}],
    ['text', {x: right, y: bottom + 34, 'text-anchor': 'end'}, ...fitting(axisTitle(points, x, basis), width - 20)],
    ['text', {transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle'}, ...fitting(axisTitle(points, y, basis), bottom - top + 40)],
  ];
}

const fitting = (text, width) => [wrapped(text, width).length > 1 ? text.replace(/, [^(]*/, ' ') : text];

// A front goes right, then down: what lies above it and right of it is beaten.
const stairs = places => places.map(([x, y], n) => (n ? `H${x}V${y}` : `M${x} ${y}`)).join('');

const colourOf = (points, n) => points.combination(n).colour;
const shapeOf = (points, n) => points.combination(n).shape;

function run(points, list, place) {
  const d = list.map((n, step) => `${step ? 'L' : 'M'}${place(n).join(' ')}`).join('');
  return ['path', {d, fill: 'none', stroke: colourOf(points, list[0]), 'stroke-width': 1.8, 'stroke-dasharray': DASHES[points.combination(list[0]).weights], opacity: 0.85}];
}

function whiskers(points, {x, y, basis}, n, across, up, {left, right, top, bottom, ink}) {
  const beside = ends(points, x, basis, n), upright = ends(points, y, basis, n);
  const [px, py] = [across.place(amount(points, x, basis, n)), up.place(amount(points, y, basis, n))];
  const held = (value, from, to) => Math.min(Math.max(value, from), to), look = {stroke: ink, 'stroke-width': 1, opacity: 0.5};
  return [
    ...(beside ? [['path', {d: `M${held(across.place(beside[0]), left, right)} ${py}H${held(across.place(beside[1]), left, right)}`, ...look}]] : []),
    ...(upright ? [['path', {d: `M${px} ${held(up.place(upright[0]), top, bottom)}V${held(up.place(upright[1]), top, bottom)}`, ...look}]] : []),
  ];
}

// One path for all points that look alike: a browser draws twenty thousand of them at once.
function marks(points, view, {basis}, places, strong) {
  const crowd = places.length > CROWD, small = places.length > 3000 ? 1.8 : crowd ? 2.4 : 3.6, groups = new Map();
  for (const [n, px, py] of places) {
    const key = [strong.has(n) || view.over, colourOf(points, n), shapeOf(points, n)].join('|');
    groups.set(key, `${groups.get(key) ?? ''}M${px} ${py}${SHAPES[shapeOf(points, n)](strong.has(n) ? 5.5 : view.over ? 4 : small)}`);
  }
  return [...groups].sort(([a], [b]) => Number(a.startsWith('true')) - Number(b.startsWith('true'))).map(([key, d]) => {
    const [front, colour] = key.split('|');
    const fill = basis === 'predicted' ? {fill: 'none', stroke: colour, 'stroke-width': front === 'true' ? 2 : crowd ? 0.8 : 1.2} : {fill: colour};
    return ['path', {d, ...fill, opacity: front === 'true' ? 1 : crowd ? FAINT : 0.7}];
  });
}

// Names at the right ends of lines, moved apart where they would touch.
function endings(points, view, place, right, ink) {
  const found = view.lines.map(list => [list.at(-1), place(list.at(-1))[1]]).sort((a, b) => a[1] - b[1]);
  found.forEach((label, n) => { if (n) label[1] = Math.max(label[1], found[n - 1][1] + 14); });
  return found.map(([n, y]) => {
    const {model, weights} = points.combination(n), name = `${model.name.replace('DeepSeek-R1-Distill-', 'R1-')}, ${weights}`, [px, py] = place(n);
    const led = ['path', {d: `M${px + 6} ${py}L${right + 12} ${y}`, stroke: ink, 'stroke-width': 0.8, opacity: 0.35}];
    return ['g', {}, led, ['text', {x: right + 16, y: y + 4, 'font-size': 11.5}, name]];
  });
}

const halo = paper => `paint-order: stroke; stroke: ${paper}; stroke-width: 4px; stroke-linejoin: round`;

// What stands on the front, below and left of it, where no point can be; left out where it would touch.
function corners(points, view, {names}, places, {left, bottom, paper}) {
  const at = new Map(places.map(([n, px, py]) => [n, [px, py]])), found = [];
  const many = new Set(view.shown.map(n => points.combination(n).model.id)).size > 1;
  let last = -99;
  for (const n of view.edge) {
    const [px, py] = at.get(n), name = many ? called(points, n).replace('DeepSeek-R1-Distill-', 'R1-') : how(points, n);
    if (py + 16 - last < 13 || py + 20 > bottom || px - 10 - name.length * 6 < left || Object.hasOwn(names, points.id(n))) continue;
    last = py + 16;
    found.push(['text', {x: px - 8, y: last, 'text-anchor': 'end', 'font-size': 11, style: halo(paper)}, name]);
  }
  return found;
}

function namesOf(points, {names, at}, places, {ink, paper, right, left}) {
  return places.flatMap(([n, px, py]) => {
    const id = points.id(n), ring = id === at ? [['circle', {cx: px, cy: py, r: 10, fill: 'none', stroke: ink, 'stroke-width': 2}]] : [];
    if (!Object.hasOwn(names, id)) return ring;
    const after = px < (left + right) / 2, look = {x: px + (after ? 11 : -11), y: py - 8, 'text-anchor': after ? 'start' : 'end', 'font-weight': 600};
    return [...ring, ['text', {...look, style: halo(paper)}, names[id]]];
  });
}

// Colours, shapes and what filled and hollow mean, of those that are drawn, in rows that fit.
function legend(points, view, all, {basis}, width, ink) {
  const families = new Set(all.map(n => points.combination(n).model.family)), classes = new Set(all.map(n => shapeOf(points, n)));
  const formats = [...new Set(view.lines.map(([n]) => points.combination(n).weights))];
  const look = (shape, colour, hollow) => (x, y) => ['path', {d: `M${x + 7} ${y - 4}${SHAPES[shape](5)}`, ...(hollow ? {fill: 'none', stroke: colour, 'stroke-width': 1.6} : {fill: colour})}];
  const dash = pattern => (x, y) => ['path', {d: `M${x - 4} ${y - 4}h22`, stroke: ink, 'stroke-width': 1.8, 'stroke-dasharray': pattern, fill: 'none'}];
  const hollow = basis === 'predicted', entries = [
    ...points.families.filter(([name]) => families.has(name)).map(([name, colour]) => [name, look(0, colour, hollow)]),
    ...points.classes.map((name, shape) => [name, look(shape, ink, hollow), shape]).filter(([, , shape]) => classes.has(shape)),
    ...formats.map(name => [name, dash(DASHES[name])]),
    ...(view.edge.length > 1 ? [[`front, ${BASIS[basis]}`, dash(null)]] : []),
    ...(view.faint.length > 1 ? [[`front, ${BASIS[basis === 'bound' ? 'predicted' : 'bound']}`, dash('3 4')]] : []),
    ...(hollow ? [['hollow: predicted; lines across: 90 % interval', () => ['g', {}]]] : []),
    ...(all.length > CROWD && view.edge.length ? [['faint: beaten by a point of the front', () => ['g', {}]]] : []),
  ];
  const parts = [];
  let [x, y] = [10, 14];
  for (const [name, draw] of entries) {
    const wide = 30 + name.length * 7;
    if (x + wide > width && x > 10) [x, y] = [10, y + 20];
    parts.push(draw(x, y), ['text', {x: x + 22, y}, name]);
    x += wide + 8;
  }
  return {parts, height: y + 10};
}
