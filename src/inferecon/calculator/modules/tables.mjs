// The answer as elements: cards of what is asked first, the table of all results, that of the operators.

import {winner} from './answer.mjs';
import {PARTS, PHASES, operatorRows} from './operators.mjs';
import {element, reachable} from './page.mjs';
import {digits} from './words.mjs';

const CARDS = {
  ttft: 'TTFT, all prompts together', ttft_request: 'TTFT of one request', itl: 'ITL', throughput: 'output tokens',
  energy_per_token: 'energy', carbon_per_token: 'emissions', cost_per_token: 'price',
};
const INSTEAD = {energy_per_token: 'energy_at_limit', carbon_per_token: 'carbon_at_limit'};
const FORETOLD = {ttft: '', ttft_request: 'ttft_predicted'}; // a batch that starts together is no request among others

// A card for each quantity: what no machine beats, and what the engine is predicted to do.
export function headline(rows, {values}) {
  const found = key => rows.find(row => row.key === key);
  return Object.entries(CARDS).map(([name, label]) => {
    const row = found(Number.isNaN(values[name]) && INSTEAD[name] ? INSTEAD[name] : name), [one] = row.cells;
    const foretold = found(FORETOLD[name] ?? `${name}_predicted`), said = foretold?.cells[0];
    return element('div', {}, element('dt', {}, label),
      element('dd', {}, kind(one.kind === 'estimate' ? 'at the power limit' : one.kind), amountOf(one.text, row.unit)),
      said?.known ? element('dd', {class: 'said'}, kind('predicted'), amountOf(said.text, foretold.unit), ' ', element('span', {class: 'interval'}, said.after)) : '');
  });
}

const amountOf = (text, unit) => element('span', {class: 'figure'}, element('strong', {}, text), text === '–' ? '' : ` ${unit}`);
const kind = text => (text ? element('span', {class: 'kind'}, `${text} `) : '');

// All results; several columns have their names, and what to do with each but the first.
export function resultTable(place, topics, names, actions) {
  const many = names.length > 1; // what sets the pace of one has a table of its own
  const head = !many ? [element('th', {scope: 'col'}, 'value')] : names.map((name, n) => {
    const button = what => {
      const made = element('button', {type: 'button', 'aria-label': `${what === 'use' ? 'Use' : 'Drop'} ${name}`}, what);
      made.addEventListener('click', actions[n][what]);
      return made;
    };
    return element('th', {scope: 'col'}, element('span', {class: 'what'}, name), ...(n ? [button('use'), ' ', button('drop')] : [element('span', {class: 'note'}, 'in the form')]));
  });
  const body = topics.slice(0, many ? undefined : -1).map(({topic, rows}) => element('tbody', {},
    element('tr', {}, element('th', {scope: 'rowgroup', colspan: head.length + 1}, topic)), rows.map(resultLine)));
  place.replaceChildren(element('thead', {}, element('tr', {}, element('td', {}), ...head)), ...body);
  place.classList.toggle('many', many);
  reachable(place.parentElement);
}

function resultLine(row) {
  const cells = row.cells.map(one => element('td', {}, one.text, one.text !== '–' && row.unit ? element('span', {class: 'unit'}, ` ${row.unit}`) : '',
    one.after ? element('span', {class: 'interval'}, one.after) : '', one.apart ? element('span', {class: 'apart'}, one.apart) : '',
    one.reason ? element('span', {class: 'reason'}, one.reason) : '', one.brief ? element('span', {class: 'note', title: one.note}, one.brief) : ''));
  const law = row.at ? element('a', {class: 'law-of', href: row.at}, row.law) : '';
  return element('tr', {}, element('th', {scope: 'row'}, row.says, row.kind ? element('span', {class: 'kind'}, `, ${row.kind}`) : '', ' ', law), ...cells);
}

// What each operator takes by each limit, phase by phase, and which limit wins; below them their sums.
export function operatorTable(place, records, values) {
  const cells = (parts, wins) => Object.keys(PARTS).map(part => element('td', {'data-wins': String(part === wins)}, parts[part] === 0 ? '–' : digits(parts[part] * 1e3)));
  const bodies = Object.entries(PHASES).map(([phase, says]) => {
    const rows = operatorRows(records, values, phase), law = phase === 'decode' ? 'itl' : 'ttft';
    const sums = Object.fromEntries(Object.keys(PARTS).map(part => [part, values[`t_${part}_${phase}`]])), {unit, factor, at, law: id} = records.shown[law];
    return element('tbody', {}, element('tr', {}, element('th', {scope: 'rowgroup', colspan: 5}, says)),
      rows.map(({name, parts, wins}) => element('tr', {}, element('th', {scope: 'row'}, name), ...cells(parts, wins), element('td', {}, PARTS[wins] ?? '–'))),
      element('tr', {class: 'sum'}, element('th', {scope: 'row'}, `all: ${digits(values[law] * factor)} ${unit} `, element('a', {class: 'law-of', href: at}, id)), ...cells(sums), element('td', {}, winner(values, phase))));
  });
  place.replaceChildren(place.tHead, ...bodies);
  reachable(place.parentElement);
}
