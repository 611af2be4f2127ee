// The memory of one device as a picture to take away: black on white, told apart without colour.

import {memory} from './answer.mjs';
import {wrapped} from './svg.mjs';
import {bytes} from './words.mjs';

export const MEMORY = {weights: 'weights', cache: 'KV cache', free: 'free', over: 'does not fit', kept: 'kept back by the engine'};
const FILL = {weights: '#0072B2', cache: 'url(#cache)', free: 'white', kept: 'url(#kept)', over: '#D55E00'};
const WIDTH = 760, LEFT = 10;

const stripes = (id, colour, line, angle) => ['pattern', {id, width: 8, height: 8, patternUnits: 'userSpaceOnUse', patternTransform: `rotate(${angle})`},
  ['rect', {width: 8, height: 8, fill: colour}], ['path', {d: 'M0 0H8', stroke: line, 'stroke-width': 3}]];

// The tree of the bar; ``title`` says of which configuration.
export function barPicture(values, unit, title) {
  const parts = memory(values), room = WIDTH - 2 * LEFT, total = parts.weights + parts.cache + parts.free + parts.kept;
  const lines = wrapped(title, WIDTH - 2 * LEFT, 18), top = 20 + 18 * lines.length, wide = name => room * parts[name] / total;
  const shown = Object.keys(MEMORY).filter(name => parts[name] > 0), bars = [];
  let x = LEFT;
  for (const name of shown.filter(one => one !== 'over')) {
    bars.push(['rect', {x, y: top, width: wide(name), height: 34, fill: FILL[name], stroke: 'black', 'stroke-width': 1}]);
    x += wide(name);
  }
  if (parts.over > 0) {
    const limit = LEFT + room * values.memory_available / total;
    bars.push(['path', {d: `M${limit} ${top - 6}V${top + 40}`, stroke: FILL.over, 'stroke-width': 3}]);
  }
  const key = shown.flatMap((name, n) => [
    ['rect', {x: LEFT, y: top + 52 + 20 * n, width: 12, height: 12, fill: FILL[name], stroke: 'black'}],
    ['text', {x: LEFT + 20, y: top + 63 + 20 * n}, `${MEMORY[name]}: ${bytes(parts[name], unit)}`],
  ]);
  const height = top + 64 + 20 * shown.length;
  return ['svg', {viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, 'font-family': 'system-ui, sans-serif', 'font-size': 13},
    ['rect', {width: '100%', height: '100%', fill: 'white'}], stripes('cache', '#E69F00', '#B87B00', 45), stripes('kept', 'white', 'grey', 135),
    ...lines.map((text, n) => ['text', {x: LEFT, y: 22 + 18 * n, 'font-size': 15, 'font-weight': 600}, text]), ...bars, ...key];
}
