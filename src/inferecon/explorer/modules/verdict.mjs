// What a view shows, in words: which figures rank, how many combinations have none, and why; of a
// view without a point which choice left none.

import {titled} from './drawing.mjs';
import {LIMITS} from './place.mjs';
import {amount, called, unpredicted} from './points.mjs';
import {combinationsOf, stages} from './ranks.mjs';
import {commas, digits, several} from './words.mjs';

export const SHORT = {itl: 'ITL', ttft: 'TTFT'};

export function verdict(points, found, choices) {
  if (!points.count) return 'This copy of the report was built without its dataset.';
  if (choices.runs === 'no') return `${several(found.refused.length, 'combination')} of ${commas(found.admitted)} cannot run; here is why.`;
  if (!found.shown.length) return cause(points, found, choices);
  const asked = asking(choices), many = combinationsOf(points, found.shown).size, without = found.unpredicted.length, foretold = choices.basis === 'predicted';
  const by = foretold ? `what ${points.engine} is predicted to do` : 'derived bounds: the ideal at datasheet peak rates, not what a service does';
  return [
    `${several(many, 'combination')}${asked.length ? ` with ${asked.join(' and ')}` : ''}, ${several(found.shown.length, 'point')}, ranked by ${by}.`,
    without && `${commas(without)} of ${commas(found.running)} that run ${without === 1 ? 'is' : 'are'} not predicted${foretold ? ' and not ranked' : ''}: ${reasons(points, found.unpredicted)}.`,
    found.without.length && `Of ${several(found.without.length, 'other')} ${lacking(points, found.without, choices)}.`,
    `${commas(found.refused.length)} of ${commas(found.admitted)} cannot run.`,
  ].filter(Boolean).join(' ');
}

// The reasons of points that are not predicted, each with how many combinations it has.
export function reasons(points, list) {
  const found = new Map();
  for (const n of list) found.set(unpredicted(points, n), (found.get(unpredicted(points, n)) ?? 0) + 1);
  return [...found].map(([why, count]) => `${why} (${commas(count)})`).join(', ');
}

const asking = choices => Object.keys(LIMITS).filter(name => choices[name]).map(name => `${SHORT[name]} of at most ${commas(choices[name])} ms`);

// Which choice left nothing, in a sentence: the first of the filters behind which nothing is left.
export function cause(points, view, choices) {
  const {passing, running, there, able} = stages(points, choices), {x, y, basis, isl, batch} = choices;
  const count = list => several(list.length, 'combination'), first = 'No point is left: ';
  if (!passing.length) return `${first}no combination has all that the lists ask for.`;
  if (!running.length) return `${first}${passing.length > 1 ? `none of ${count(passing)} that the lists let pass can run` : 'the one combination that the lists let pass cannot run'}: ${points.combinations[passing[0]].obstacle}.`;
  if (!there.length) return `${first}of ${count(running)} that run, none has room for ${typeof batch === 'number' ? `batch ${batch}` : 'one request'} at ${commas(isl)} tokens in.`;
  if (!able.length && basis === 'predicted' && view.unpredicted.length) return `${first}${count(view.unpredicted)} without a prediction: ${reasons(points, view.unpredicted)}.`;
  if (!able.length) return `${first}${lacking(points, there, choices)}.`;
  const least = name => able.reduce((best, n) => (amount(points, name, basis, n) < amount(points, name, basis, best) ? n : best));
  const said = Object.keys(LIMITS).filter(name => choices[name]).map(name => [name, least(name)]).map(([name, n]) => `the lowest ${SHORT[name]} is ${digits(amount(points, name, basis, n))} ms, of ${called(points, n)}`);
  return `${first}none of ${several(combinationsOf(points, able).size, 'combination')} has ${asking(choices).join(' and ')}; ${said.join('; ')}.`;
}

// Which axis has no figure, of a list of points that have no place.
export function lacking(points, list, {x, y, basis}) {
  const axes = [x, y].filter(key => list.some(n => Number.isNaN(amount(points, key, basis, n)))).map(key => titled(points, key).says.replace(/, .*/, ''));
  return `no figure is on record for ${axes.join(' or ')}`;
}
