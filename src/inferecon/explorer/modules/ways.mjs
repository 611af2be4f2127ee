// A view without a point: the nearest change of one choice, or of two, that would leave some.

import {titled} from './drawing.mjs';
import {LIMITS, LISTS, allowed, known, settledAxes} from './place.mjs';
import {combinationsOf, ranked, stages} from './ranks.mjs';
import {SHORT} from './verdict.mjs';
import {commas} from './words.mjs';

const KINDS = {family: 'model families', model: 'models', device: 'devices', weights: 'formats', tp: 'TP'};
const MOST = 6;

const near = (list, value) => list.filter(one => typeof one === 'number' && one !== value).sort((a, b) => Math.abs(Math.log(a / value)) - Math.abs(Math.log(b / value)));

// Each filter in force: how to loosen it altogether, and its changes, the nearest first.
function filters(points, choices) {
  const can = allowed(points, choices), {isl, batch, basis, x, y} = choices, lists = known(points);
  return [
    ...Object.keys(LIMITS).filter(name => choices[name]).map(name => ({
      all: {[name]: ''},
      tries: () => LIMITS[name].filter(limit => limit === '' || limit > choices[name]).map(limit => [limit === '' ? `any ${SHORT[name]}` : `${SHORT[name]} of at most ${commas(limit)} ms`, {[name]: limit}]),
    })),
    ...LISTS.filter(name => choices[name].length).map(name => ({
      all: {[name]: []},
      tries: now => {
        const loose = settledAxes(points, {...now, [name]: []}), [best] = ranked(points, stages(points, loose).asked, {...loose, sort: 'y', down: ''});
        if (best === undefined) return [];
        const value = valueOf(points.combination(best), name), says = lists[name].find(([id]) => id === value)[1];
        return [[`${KINDS[name]}: ${says}, too`, {[name]: lists[name].map(([id]) => id).filter(id => id === value || choices[name].includes(id))}]];
      },
    })),
    ...(typeof batch === 'number' && x !== 'batch' ? [{all: {batch: 'best'}, tries: () => near(points.batches, batch).map(one => [`batch ${one}`, {batch: one}])}] : []),
    {tries: () => near(points.isls, isl).map(one => [`${commas(one)} tokens in`, {isl: one}])},
    {tries: () => [basis === 'bound' ? ['predicted figures', {basis: 'predicted'}] : ['derived bounds', {basis: 'bound'}]]},
    ...['y', 'x'].map(axis => ({tries: () => can[axis].filter(key => key !== x && key !== y && key !== 'batch').map(key => [`${titled(points, key).says.replace(/, .*/, '')} in place of ${titled(points, choices[axis]).says.replace(/, .*/, '')}`, {[axis]: key}])})),
  ];
}

const valueOf = ({model, device, weights, tp}, name) => ({family: model.family, model: model.id, device: device.id, weights, tp: String(tp)})[name];

// Changes that leave some points: what each says and sets, and how many combinations it leaves.
export function ways(points, choices) {
  const all = filters(points, choices);
  const keeping = change => combinationsOf(points, stages(points, settledAxes(points, {...choices, ...change})).asked).size;
  const nearest = ({tries}, loosened = {}) => {
    for (const [says, change] of tries({...choices, ...loosened})) {
      const keeps = keeping({...loosened, ...change});
      if (keeps) return {says, change, keeps};
    }
    return null;
  };
  const alone = all.map(one => nearest(one)).filter(Boolean);
  if (alone.length) return alone.slice(0, MOST);
  // none is enough alone: one loosened altogether, the nearest of another, then the nearest of the first
  const pairs = all.flatMap((one, n) => all.slice(n + 1).flatMap(other => {
    const second = one.all && nearest(other, one.all), first = second && nearest(one, second.change);
    return first ? [{says: `${first.says}, and ${second.says}`, change: {...second.change, ...first.change}, keeps: first.keeps}] : [];
  }));
  return pairs.slice(0, MOST);
}
