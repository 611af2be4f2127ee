// The answer to take away: Markdown, CSV, JSON, and the commands that compute it again.

import {atShares, rows} from './answer.mjs';
import {OWN} from './address.mjs';
import {cardCommands, cardWords} from './card.mjs';
import {PARTS, PHASES, operatorRows} from './operators.mjs';
import {decimal, field, line, quoted} from './text.mjs';
import {digits} from './words.mjs';

const PARAMETERS = ['model', 'hardware', 'weights', 'activations', 'kv', 'tp', 'ep', 'batch', 'isl', 'osl', 'grid', 'provider', 'engine'];

const chosen = choices => PARAMETERS.filter(name => choices[name] !== '').map(name => [name, String(choices[name])]);
const stands = choices => Object.keys(OWN).filter(name => choices[name] != null);

// What a configuration is called: the id of its combination and the workload.
export function title(choices) {
  const {model, hardware, weights, tp, ep, batch, isl, osl} = choices;
  return `${model}/${hardware}/${weights}, TP ${tp}, EP ${ep}, batch ${batch}, ${isl} tokens in, ${osl} out`;
}

export function papermill(choices) {
  const given = chosen(choices).map(([name, text]) => `-p ${name} ${quoted(text)}`);
  return `${folder(choices)}papermill notebooks/scenario.ipynb out.ipynb ${given.join(' ')}${remark(choices)}`;
}

export function inferecon(choices) {
  const given = chosen(choices).map(([name, text]) => `-p ${name}=${quoted(text)}`);
  return `${folder(choices)}inferecon run out.ipynb ${given.join(' ')}${remark(choices)}`;
}

// All lines: a model or a card of one's own becomes a record first.
export function commands(choices, records) {
  const model = choices.model === 'own' ? ['mkdir -p my-data/models && inferecon model config.json own > my-data/models/own.yaml'] : [];
  const card = choices.hardware === 'own' ? cardCommands(records.hardware.own) : [];
  return [...model, ...card, papermill(choices), inferecon(choices)].join('\n');
}

const folder = ({model, hardware}) => (model === 'own' || hardware === 'own' ? 'INFERECON_DATA=my-data ' : '');

// What has no parameter, because it stands in a record.
function remark(choices) {
  const names = stands(choices);
  return names.length ? `  # without your own ${names.join(', ')}: these are facts of a record` : '';
}

const ownWords = (choices, records) => [
  ...(choices.hardware === 'own' ? [`card (unsourced): ${cardWords(records.hardware.own)}`] : []),
  ...stands(choices).map(name => `${name} ${decimal(choices[name])} ${OWN[name][2]}`.trim()),
];

const rowName = ({says, kind}) => (kind ? `${says}, ${kind}` : says);

export function markdown(records, answers, unit, link) {
  const list = rows(records, answers, unit);
  const head = answers.map((one, n) => (answers.length > 1 ? `${n + 1}` : 'value'));
  const out = answers.map((one, n) => `${answers.length > 1 ? `${n + 1}. ` : ''}\`${title(one.choices)}\`${ownWords(one.choices, records).map(x => `, own ${x}`).join('')}${reason(one)}`);
  out.push('', `| quantity | unit | ${head.join(' | ')} |`, `|---|---|${'---:|'.repeat(answers.length)}`);
  for (const row of list) out.push(`| ${line(row.topic)}: ${line(rowName(row))} | ${line(row.unit)} | ${row.cells.map(x => line([x.text, x.after, x.apart && `(${[x.apart, x.reason].filter(Boolean).join(': ')})`].filter(Boolean).join(' '))).join(' | ')} |`);
  if (answers[0].runs) out.push(...operatorLines(records, answers[0].values));
  return [...out, '', `${answers.some(one => atShares(one.choices)) ? 'Derived, and no bound at stated shares of the peaks' : 'Derived bounds'}; what is predicted has its 90 % interval (≈ calibrated, ~ extrapolated). ${records.edition}, ${records.licence}: <${link}>`, ''].join('\n');
}

// Milliseconds of each operator by each limit, of the first configuration.
function operatorLines(records, values) {
  const rows = Object.entries(PHASES).flatMap(([phase, says]) => operatorRows(records, values, phase).map(({name, parts, wins}) => [
    says, name, ...Object.keys(PARTS).map(part => digits(parts[part] * 1e3)), PARTS[wins] ?? '–',
  ]));
  return ['', `| phase | operator | ${Object.values(PARTS).map(says => `${says} (ms)`).join(' | ')} | set by |`, '|---|---|---:|---:|---:|---|', ...rows.map(cells => `| ${cells.join(' | ')} |`)];
}

const reason = one => (one.runs ? '' : `; does not run: ${one.wrong || one.obstacles.join('; ')}`);

const ENDS = {low: 'low end of 90 %', high: 'high end of 90 %'};
const number = ({value, text}) => (value === undefined ? text : Number.isFinite(value) ? String(Number(value.toPrecision(10))) : '');

export function csv(records, answers, unit, link) {
  const lines = [['topic', 'quantity', 'unit', 'law', ...answers.map(one => title(one.choices))]];
  for (const row of rows(records, answers, unit)) {
    lines.push([row.topic, rowName(row), row.unit, row.law ?? '', ...row.cells.map(number)]);
    for (const [end, says] of Object.entries(row.cells.some(x => x.low !== undefined) ? ENDS : {})) {
      lines.push([row.topic, `${rowName(row)}, ${says}`, row.unit, row.law, ...row.cells.map(x => number({value: x[end] ?? NaN}))]);
    }
  }
  lines.push(...Object.entries({edition: records.edition, licence: records.licence, link}).map(([name, text]) => [name, '', '', '', text]));
  return lines.map(cells => cells.map(field).join(',')).join('\r\n') + '\r\n';
}

// Seconds of each operator by each limit; null where a fact is missing.
const ofOperators = (records, values, phase) => Object.fromEntries(operatorRows(records, values, phase).map(({name, parts, wins}) => [
  name, {...Object.fromEntries(Object.entries(parts).map(([part, seconds]) => [PARTS[part], Number.isFinite(seconds) ? seconds : null])), unit: 's', set_by: PARTS[wins] ?? null},
]));

export function json(records, answers, unit, link) {
  const list = rows(records, answers, unit);
  const configurations = answers.map((one, n) => ({
    choices: one.choices,
    ...(one.choices.hardware === 'own' && {own_card: `unsourced: ${cardWords(records.hardware.own)}`}),
    runs: one.runs,
    ...(one.runs && {operators: Object.fromEntries(Object.keys(PHASES).map(phase => [phase, ofOperators(records, one.values, phase)]))}),
    why_not: one.wrong ? [one.wrong] : one.obstacles,
    results: Object.fromEntries(list.map(({key, says, kind, unit: name, law, cells}) => [key, {
      says,
      ...((cells[n].kind ?? kind) && {kind: cells[n].kind ?? kind}),
      ...(cells[n].value === undefined ? {value: cells[n].text} : {value: Number.isFinite(cells[n].value) ? cells[n].value : null, unit: name}),
      ...(cells[n].known && {low: cells[n].low, high: cells[n].high, known: cells[n].known}),
      ...(law && {law}),
      ...(cells[n].apart && {difference: cells[n].apart}),
      ...(cells[n].reason && {reason: cells[n].reason}),
      ...(cells[n].note && {note: cells[n].note}),
    }])),
  }));
  return `${JSON.stringify({edition: records.edition, licence: records.licence, known: 'derived where nothing else is said', link, configurations}, null, 1)}\n`;
}
