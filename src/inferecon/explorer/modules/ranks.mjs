// Which points are shown, in which order, and which of them no other beats.

import {predicted, reader} from './points.mjs';

// Combinations that pass the lists; an empty list lets all pass.
export function admitted(points, choices) {
  const lets = (name, value) => !choices[name].length || choices[name].includes(value);
  return points.combinations.map(one => lets('family', one.model.family) && lets('model', one.model.id)
    && lets('device', one.device.id) && lets('weights', one.weights) && lets('tp', String(one.tp)));
}

// Whether a point meets the goals.
function goals(points, {basis, itl, ttft}) {
  const step = reader(points, 'itl', basis), first = reader(points, 'ttft', basis);
  return n => (!itl || step(n) <= itl) && (!ttft || first(n) <= ttft);
}

// Points on the lower left edge, from left to right: no other is at least as low in both and lower in one.
export function front(points, list, {x, y, basis}) {
  const across = reader(points, x, basis), up = reader(points, y, basis);
  const found = list.map(n => [n, across(n), up(n)]).filter(([, one, other]) => !Number.isNaN(one + other));
  found.sort((a, b) => a[1] - b[1] || a[2] - b[2] || a[0] - b[0]);
  let lowest = Infinity;
  return found.filter(([, , other]) => other < lowest && ((lowest = other), true)).map(([n]) => n);
}

// Of each combination the point that is lowest upright, then across.
function bestOf(points, list, {x, y, basis}) {
  const best = new Map(), across = reader(points, x, basis), up = reader(points, y, basis);
  for (const n of list) {
    const now = best.get(points.place(n));
    const better = now === undefined || up(n) < up(now) || (up(n) === up(now) && across(n) < across(now));
    if (better) best.set(points.place(n), n);
  }
  return [...best.values()];
}

// What passes, filter by filter: the lists; running there; at this length and batch; with a figure
// on both axes; within the goals.  The last are asked for, by the basis that is chosen or another.
export function stages(points, choices, basis = choices.basis) {
  const lets = admitted(points, choices), {x, y, isl, batch} = choices, there = [], able = [], asked = [];
  const across = reader(points, x, basis), up = reader(points, y, basis), meets = goals(points, {...choices, basis});
  for (let n = 0; n < points.count; n += 1) {
    if (!lets[points.place(n)] || points.isl(n) !== isl) continue;
    if (typeof batch === 'number' && points.batch(n) !== batch) continue;
    there.push(n);
    if (Number.isNaN(across(n) + up(n))) continue;
    able.push(n);
    if (meets(n)) asked.push(n);
  }
  const passing = points.combinations.flatMap((_, n) => (lets[n] ? [n] : []));
  return {passing, running: passing.filter(n => !points.combinations[n].obstacle), there, able, asked};
}

export const combinationsOf = (points, list) => new Set(list.map(points.place));

// Of each combination that runs and is not predicted, the best point by its bounds, unless even
// those miss a goal.
function bare(points, {there}, choices) {
  const known = combinationsOf(points, there.filter(n => predicted(points, n))), meets = goals(points, {...choices, basis: 'bound'});
  const without = there.filter(n => !known.has(points.place(n)));
  const ranking = {...choices, basis: 'bound', sort: 'y', down: ''};
  return {unpredicted: bestOf(points, without, ranking), bare: ranked(points, bestOf(points, without.filter(meets), ranking), ranking)};
}

// All that a view shows: points in their order, the front, lines over batch, and what has no place.
export function view(points, choices) {
  const {x, basis, batch} = choices, against = basis === 'bound' ? 'predicted' : 'bound';
  const passed = stages(points, choices), {asked} = passed, {unpredicted, bare: apart} = bare(points, passed, choices);
  const placed = new Set([...combinationsOf(points, passed.able), ...(basis === 'predicted' ? combinationsOf(points, unpredicted) : [])]);
  const chosen = batch === 'best' ? bestOf(points, asked, choices) : asked, over = x === 'batch';
  const edge = over ? [] : front(points, asked, choices), on = new Set(edge);
  const kept = choices.front && !over ? edge : [...new Set([...chosen, ...edge])];
  return {
    shown: ranked(points, kept, choices), edge, on, over,
    faint: over ? [] : front(points, stages(points, choices, against).asked, {...choices, basis: against}),
    lines: over ? lines(points, kept) : [],
    unpredicted, bare: basis === 'predicted' ? apart : [],
    without: passed.there.filter(n => !placed.has(points.place(n)) && placed.add(points.place(n))), // a point of each
    running: passed.running.length,
    refused: passed.passing.filter(n => points.combinations[n].obstacle),
    admitted: passed.passing.length,
  };
}

export function ranked(points, list, {x, y, basis, sort, down}) {
  const key = sort === 'y' ? y : sort, turn = down ? -1 : 1;
  const at = reader(points, key, basis), beside = reader(points, key === y ? x : y, basis);
  const keys = new Map(list.map(n => [n, [at(n), beside(n)]]));
  const gap = (a, b) => (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0) || (Number.isNaN(a) ? 0 : turn * (a - b));
  return [...list].sort((a, b) => gap(keys.get(a)[0], keys.get(b)[0]) || keys.get(a)[1] - keys.get(b)[1] || a - b);
}

// The points of each combination, from the smallest batch to the largest.
function lines(points, list) {
  const found = new Map();
  for (const n of [...list].sort((a, b) => points.batch(a) - points.batch(b))) {
    found.set(points.place(n), [...(found.get(points.place(n)) ?? []), n]);
  }
  return [...found.values()];
}
