// What each operator adds to the bounds of a phase: the same laws with all others at rest, as
// pace.py has it.

import {pace} from './laws.mjs';

export const PHASES = {prefill: 'prefill', decode: 'decode step'};
export const PARTS = {math: 'arithmetic', memory: 'memory', comm: 'communication'};
const LIMITS_OF = Object.keys(PARTS);

// By name of the operator: the seconds of t_math_decode, t_memory_decode and so on.
export function byOperator(records, values) {
  const all = Object.values(records.operators).flat();
  return Object.fromEntries(Object.entries(records.operators).map(([name, own]) => {
    const given = {...values};
    for (const symbol of all) if (!own.includes(symbol)) given[symbol] = 0;
    const solved = pace(given), keys = Object.keys(PHASES).flatMap(phase => LIMITS_OF.map(part => `t_${part}_${phase}`));
    return [name, Object.fromEntries(keys.map(key => [key, solved[key]]))];
  }));
}

// Rows of a phase: operator, seconds by each limit, which limit wins.  What takes no time is left out.
export function operatorRows(records, values, phase) {
  const found = Object.entries(byOperator(records, values)).map(([name, seconds]) => {
    const parts = Object.fromEntries(LIMITS_OF.map(part => [part, seconds[`t_${part}_${phase}`]]));
    return {name, parts, wins: mostOf(parts)};
  });
  return found.filter(({parts}) => Object.values(parts).some(seconds => seconds !== 0));
}

function mostOf(parts) {
  if (Object.values(parts).some(Number.isNaN)) return '';
  return LIMITS_OF.reduce((best, part) => (parts[part] > parts[best] ? part : best));
}
