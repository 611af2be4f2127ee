// Points to take away: Markdown, CSV, JSON, and the commands that compute one again.

import {amount, called, ends, plain, unpredicted} from './points.mjs';
import {field, harmless, line, quoted} from './text.mjs';
import {digits} from './words.mjs';

const LINES = 50; // of a Markdown table

// Everything known of a point, bound and prediction apart.
export function facts(points, n) {
  return Object.values(points.metrics).map(metric => {
    const value = amount(points, metric.key, 'bound', n), foretold = metric.foretold ? amount(points, metric.key, 'predicted', n) : NaN;
    const [low, high] = Number.isNaN(foretold) ? [NaN, NaN] : ends(points, metric.key, 'predicted', n);
    return {...metric, value, predicted: foretold, low, high};
  });
}

const MARK = (points, n) => points.marks[points.known(n)]?.mark ?? '';
export const interval = (points, n, {predicted, low, high}, unit = '') => (Number.isNaN(predicted) ? '' : `${digits(predicted)}${unit && ` ${unit}`} ${MARK(points, n)} (${digits(low)}–${digits(high)})`);

// The first token of a batch that starts together, which is derived, and of a request, which is
// predicted, are two quantities.
export const apart = rows => rows.flatMap(row => (row.key !== 'ttft' ? [row] : [
  {...row, says: `${row.says} of the batch, all prompts together`, predicted: NaN}, {...row, says: row.foretold, value: NaN, law: 'calibration', at: 'calibration.html'},
]));

export function markdown(points, list, choices, link) {
  const own = Object.values(points.metrics).filter(({foretold}) => foretold);
  const head = ['point', 'name', ...own.flatMap(({says, unit}) => [`${says}, bound (${unit})`, 'predicted'])];
  const rows = list.slice(0, LINES).map(n => {
    const found = facts(points, n).filter(({foretold}) => foretold);
    return [`${called(points, n)}, ${points.isl(n)} tokens in`, choices.names[points.id(n)] ?? '', ...found.flatMap(one => [digits(one.value), interval(points, n, one) || 'not predicted'])];
  });
  const cut = list.length > LINES ? [`The first ${LINES} of ${list.length} points.`] : [];
  const told = `Bounds are derived; predictions are for ${points.engine} with 90 % interval, ${Object.entries(points.marks).map(([name, {mark}]) => `${mark} ${name}`).join(', ')}.`;
  return [`| ${head.map(line).join(' | ')} |`, `|---|---|${'---:|'.repeat(head.length - 2)}`, ...rows.map(cells => `| ${cells.map(line).join(' | ')} |`),
    '', ...cut, `${told} ${points.edition}, ${points.licence}: <${link}>`, ''].join('\n');
}

const cell = value => (Number.isNaN(value) ? '' : String(plain(value)));

export function csv(points, list, choices, link) {
  const metrics = Object.values(points.metrics), unit = name => name.replace('/Mtok', '/Mtoken');
  const head = ['combination', 'devices', 'tp', 'ep', 'batch', 'isl (token)', 'name', 'known', 'unpredicted',
    ...metrics.flatMap(one => [`${one.key} (${unit(one.unit)})`, ...(one.foretold ? ['predicted', 'low', 'high'].map(end => `${one.key}_${end} (${unit(one.unit)})`) : [])])];
  const rows = list.map(n => {
    const {name, devices, tp, ep} = points.combination(n);
    return [name, devices, tp, ep, points.batch(n), points.isl(n), harmless(choices.names[points.id(n)] ?? ''), points.known(n), unpredicted(points, n),
      ...facts(points, n).flatMap(one => [one.value, ...(one.foretold ? [one.predicted, one.low, one.high] : [])].map(cell))];
  });
  const about = [['edition', points.edition], ['licence', points.licence], ['link', link]];
  return [head, ...rows, ...about].map(cells => cells.map(cell => field(String(cell))).join(',')).join('\r\n') + '\r\n';
}

export function json(points, list, choices, link) {
  const rows = list.map(n => {
    const {name, tp, ep} = points.combination(n), results = {};
    for (const one of facts(points, n)) {
      if (!Number.isNaN(one.value)) results[one.key] = {derived: plain(one.value)};
      if (!Number.isNaN(one.predicted)) results[one.key] = {...results[one.key], predicted: plain(one.predicted), low: plain(one.low), high: plain(one.high)};
    }
    return {combination: name, tp, ep, batch: points.batch(n), isl: points.isl(n), name: choices.names[points.id(n)] ?? null, known: points.known(n) || null, unpredicted: unpredicted(points, n) || null, results};
  });
  const units = Object.fromEntries(Object.values(points.metrics).map(({key, unit}) => [key, unit]));
  const {names, ...asked} = choices;
  return `${JSON.stringify({edition: points.edition, licence: points.licence, digits: 3, engine: points.engine, link, choices: asked, units, points: rows}, null, 1)}\n`;
}

// Commands that compute a point again: its notebook, two ways, its walk to the sources, its row.
export function commands(points, n, symbol) {
  const {model, device, weights, activations, tp, ep, name} = points.combination(n), batch = points.batch(n), isl = points.isl(n);
  const {kv, osl, grid, provider} = points.same[0];
  const given = {model: model.id, hardware: device.id, weights, activations, kv, tp, ep, batch, isl, osl, grid, ...(provider && {provider})};
  const as = join => Object.entries(given).map(([key, value]) => `-p ${key}${join}${quoted(String(value))}`).join(' ');
  return [
    `papermill notebooks/scenario.ipynb out.ipynb ${as(' ')}`,
    `inferecon run out.ipynb ${as('=')}`,
    `inferecon trace ${model.id} ${device.id} ${weights} ${symbol} --batch ${batch} --isl ${isl} --tp ${tp} --ep ${ep}`,
    `inferecon query ${quoted(`SELECT * FROM results WHERE combination = '${name}' AND batch = ${batch} AND isl = ${isl}`)}`,
  ].join('\n');
}

// The same case in the calculator, where each bound stands with its law.
export function inCalculator(points, n) {
  const {model, device, weights, tp, ep} = points.combination(n);
  return `calculator.html?${new URLSearchParams({model: model.id, hardware: device.id, weights, tp, ep, batch: points.batch(n), isl: points.isl(n)})}`;
}
