// The explorer on the page: it reads the form, ranks in one frame, and draws chart and table.
// Everything that comes from outside reaches the page as text, never as markup.

import {alternative, chart, titled} from './drawing.mjs';
import {copy, element, reachable, save} from './page.mjs';
import {FIRST, LIMITS, LISTS, MOST_NAMES, allowed, known, nameOf, read, settledAxes, turned, write} from './place.mjs';
import {amount, called, how, opened, predicted, shownOn, unpredicted} from './points.mjs';
import {view} from './ranks.mjs';
import {asElement, asPng, asText} from './svg.mjs';
import {apart, commands, csv, facts, inCalculator, interval, json, markdown} from './taking.mjs';
import {cited} from './text.mjs';
import {verdict} from './verdict.mjs';
import {ways} from './ways.mjs';
import {commas, digits, several} from './words.mjs';

const COLUMNS = ['itl', 'ttft', 'cost_per_token', 'energy_per_token', 'carbon_per_token'];
const INSTEAD = {energy_per_token: 'energy_at_limit', carbon_per_token: 'carbon_at_limit'};
const STEP = 25; // rows at first, and four times as many at each wish for more
const LISTED = {family: 'Model families', model: 'Models', device: 'Devices', weights: 'Formats of the weights', tp: 'Devices that share each matrix (TP)'};

export function explore(place, data) {
  const points = opened(data), presets = JSON.parse(place.querySelector('script.presets').textContent), lists = known(points);
  const form = place.querySelector('form'), at = name => place.querySelector(`[data-at="${name}"]`);
  let choices, found, drawn, notice = '', offers = [], rows = STEP, pending = 0;

  // The form ------------------------------------------------------------------------------------------

  for (const name of LISTS) {
    const boxes = lists[name].map(([id, says]) => element('label', {}, element('input', {type: 'checkbox', name, value: id}), ` ${says}`));
    at('lists').append(element('details', {class: 'list', 'data-list': name}, element('summary', {}), element('div', {class: 'boxes', role: 'group', 'aria-label': LISTED[name]}, boxes)));
  }

  function fill() {
    const can = allowed(points, choices), says = key => `${titled(points, key).says}, ${titled(points, key).unit}`;
    const options = (name, list) => form.elements[name].replaceChildren(...list.map(([id, text]) => new Option(text, id)));
    for (const axis of ['x', 'y']) options(axis, can[axis].map(key => [key, says(key)]));
    options('isl', points.isls.map(isl => [isl, `${commas(isl)} tokens`]));
    options('batch', [['best', 'the best of each combination'], ['all', 'every batch'], ...points.batches.map(batch => [batch, `batch ${batch}`])]);
    form.elements.batch.disabled = choices.x === 'batch';
    for (const name of ['x', 'y', 'basis', 'isl', 'batch', 'runs']) form.elements[name].value = choices[name];
    form.elements.front.checked = Boolean(choices.front);
    for (const name of Object.keys(LIMITS)) {
      const slider = form.elements[name], step = LIMITS[name].indexOf(choices[name]);
      const text = choices[name] === '' ? 'any' : `at most ${commas(choices[name])} ms`;
      slider.max = LIMITS[name].length - 1;
      slider.value = step;
      slider.setAttribute('aria-valuetext', text);
      at(`${name}-said`).textContent = text;
    }
    for (const name of LISTS) {
      const chosen = new Set(choices[name]), list = at('lists').querySelector(`[data-list="${name}"]`);
      for (const box of list.querySelectorAll('input')) box.checked = chosen.has(box.value);
      const named = lists[name].filter(([id]) => chosen.has(id)).map(([, text]) => text);
      list.querySelector('summary').textContent = `${LISTED[name]}: ${!named.length ? `all ${lists[name].length}` : named.length > 3 ? `${named.length} of ${lists[name].length}` : named.join(', ')}`;
    }
  }

  function changed({target}) {
    const {name, value} = target;
    if (LISTS.includes(name)) choices[name] = [...form.querySelectorAll(`[name=${name}]:checked`)].map(box => box.value);
    else if (name in LIMITS) choices[name] = LIMITS[name][Number(value)];
    else if (name === 'front') choices.front = target.checked ? 'only' : '';
    else if (name === 'x' && choices.x === 'batch' && value !== 'batch') Object.assign(choices, {x: value, batch: FIRST.batch});
    else if (name in choices) Object.assign(choices, turned(choices, name, value), {[name]: allowed(points, choices)[name].find(one => String(one) === value)});
    set({});
  }

  function set(change) {
    choices = settledAxes(points, {...choices, ...change});
    notice = '';
    offers = [];
    rows = STEP;
    fill();
    soon();
  }

  // What is shown -----------------------------------------------------------------------------------------

  function soon() {
    pending ||= requestAnimationFrame(() => { pending = 0; show(); });
  }

  function show() {
    const runs = choices.runs === 'yes';
    found = view(points, choices);
    at('notice').textContent = notice;
    at('verdict').textContent = verdict(points, found, choices);
    instead();
    for (const part of place.querySelectorAll('[data-of=points]')) part.hidden = !runs;
    if (runs) { draw(); table(); } else refusals();
    detail();
    const query = write(choices);
    history.replaceState(null, '', location.pathname + (query && `?${query}`) + location.hash);
    place.dataset.ready = 'true';
  }

  // What to do about an address that asked for what is not there, or about a view without a point.
  function instead() {
    const empty = choices.runs === 'yes' && points.count && !found.shown.length, why = empty && found.refused.length && !found.running;
    const found_ = empty ? ways(points, choices) : [], list = [
      ...offers.map(({says, change}) => [says, change]),
      ...(why ? [['why they cannot run', {runs: 'no'}]] : []),
      ...found_.map(({says, change, keeps}) => [`${says}: ${several(keeps, 'combination')}`, change]),
    ];
    at('instead').hidden = !list.length;
    at('instead').querySelector('p').textContent = !empty ? 'Meant was perhaps:' : found_.length ? 'Nearest to what was asked, and leaving some:' : 'No change of two choices leaves a point.';
    at('instead').querySelector('ul').replaceChildren(...list.map(([says, change]) => {
      const button = element('button', {type: 'button'}, says);
      button.addEventListener('click', () => { set(change); at('verdict').focus(); });
      return element('li', {}, button);
    }));
  }

  const drawing = look => chart(points, found, choices, look);

  function draw() {
    const box = at('chart'), width = Math.max(300, Math.round(box.clientWidth));
    drawn = drawing({width, height: width < 600 ? 320 : 400, ink: 'currentColor', paper: 'var(--pst-color-background, white)'});
    const picture = asElement(drawn.tree);
    picture.setAttribute('role', 'img');
    picture.setAttribute('aria-label', alternative(points, found, choices));
    box.replaceChildren(picture);
    at('tip').hidden = true;
  }

  function nearest(event) {
    const box = at('chart').getBoundingClientRect(), [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best, least = 20 ** 2;
    for (const [n, px, py] of drawn?.places ?? []) {
      const gap = (px - x) ** 2 + (py - y) ** 2;
      if (gap < least) [best, least] = [[n, px, py], gap];
    }
    return best;
  }

  at('chart').addEventListener('pointermove', event => {
    const near = nearest(event), tip = at('tip');
    tip.hidden = !near;
    if (!near) return;
    const [n, px, py] = near, lines = [choices.x, choices.y].map(key => {
      const {says, unit} = titled(points, key);
      return `${says}: ${digits(amount(points, key, choices.basis, n))} ${unit}`;
    });
    tip.replaceChildren(element('strong', {}, called(points, n)), ...lines.map(text => element('span', {}, text)));
    tip.style.top = `${py + 14}px`;
    tip.style.left = `${Math.min(px, at('chart').clientWidth - tip.offsetWidth - 4)}px`;
  });
  at('chart').addEventListener('pointerleave', () => { at('tip').hidden = true; });
  at('chart').addEventListener('click', event => {
    const near = nearest(event);
    if (near) select(points.id(near[0]));
  });

  function select(id) {
    choices.at = id;
    show();
    at('point').scrollIntoView({block: 'nearest'});
    at('called').focus({preventScroll: true});
  }

  function table() {
    const sorted = choices.sort === 'y' ? choices.y : choices.sort, head = COLUMNS.map(key => {
      const {unit} = points.metrics[key], says = {itl: 'ITL', ttft: 'TTFT', cost_per_token: 'price', energy_per_token: 'energy', carbon_per_token: 'emissions'}[key];
      const able = shownOn(points, choices.basis).some(one => one.key === key), by = key === sorted;
      const button = element('button', {type: 'button', disabled: !able}, `${says}, ${unit}`, by ? (choices.down ? '\u00a0↓' : '\u00a0↑') : '');
      button.addEventListener('click', () => set({sort: key === choices.y ? 'y' : key, down: by && !choices.down ? 'down' : ''}));
      return element('th', {scope: 'col', 'aria-sort': by ? (choices.down ? 'descending' : 'ascending') : null}, button);
    });
    const named = Object.keys(choices.names).map(id => points.places.get(id)), some = found.shown.slice(0, rows), rest = found.bare.slice(0, rows - some.length);
    const body = (title, list) => element('tbody', {}, title ? element('tr', {}, element('th', {scope: 'rowgroup', colspan: head.length + 1}, title)) : '', list.map(line_));
    at('rows').replaceChildren(element('thead', {}, element('tr', {}, element('th', {scope: 'col'}, 'point'), ...head)),
      ...(named.length ? [body('Named', named)] : []), ...(some.length ? [body(named.length || rest.length ? 'Ranked' : '', some)] : []),
      ...(rest.length ? [body('Not predicted, so not ranked: their bounds', rest)] : []));
    const marks = Object.entries(points.marks).map(([name, {mark}]) => `${mark} ${name}`).join(', ');
    const both = ['derived bound (ᵀ: time at the power limit)', `predicted for ${points.engine}, 90 % interval, ${marks}`];
    at('how').textContent = `In a cell: ${(choices.basis === 'bound' ? both : both.reverse()).join('; below it: ')}. The first of them ranks. A TTFT that is derived is of a batch that starts together, one that is predicted of a request that others stand beside.`;
    const count = found.shown.length + found.bare.length;
    at('more-rows').hidden = count <= rows;
    at('more-rows').textContent = `Show more of ${commas(count)} points`;
    reachable(at('rows').parentElement);
  }

  function line_(n) {
    const all = facts(points, n), of = key => all.find(one => one.key === key), id = points.id(n);
    const alone = choices.model.length === 1, model = points.combination(n).model.name;
    const button = element('button', {type: 'button', class: 'point', 'aria-pressed': String(choices.at === id)}, ...(alone && !choices.names[id] ? [how(points, n)] : [element('span', {}, `${model}, `), how(points, n)]));
    button.addEventListener('click', () => select(id));
    const cells = COLUMNS.map(key => {
      const one = of(key), limit = Number.isNaN(one.value) && INSTEAD[key] ? of(INSTEAD[key]).value : NaN;
      const bound = element('span', {class: 'bound'}, Number.isNaN(limit) ? digits(one.value) : `${digits(limit)} ᵀ`);
      const foretold = element('span', {class: 'foretold'}, interval(points, n, one) || '–');
      return element('td', {}, ...(choices.basis === 'bound' ? [bound, foretold] : [foretold, bound]));
    });
    const notes = [choices.names[id] && `“${choices.names[id]}”`, found.on.has(n) && '◆ front', !predicted(points, n) && `not predicted: ${unpredicted(points, n)}`].filter(Boolean).join(' ');
    return element('tr', {}, element('th', {scope: 'row'}, button, notes ? element('span', {class: 'note'}, notes) : ''), ...cells);
  }

  function refusals() {
    const some = found.refused.slice(0, rows).map(n => points.combinations[n]);
    at('rows').replaceChildren(element('thead', {}, element('tr', {}, element('th', {scope: 'col'}, 'combination'), element('th', {scope: 'col', class: 'text'}, 'why it cannot run'))),
      element('tbody', {}, some.map(one => element('tr', {}, element('th', {scope: 'row'}, `${one.model.name}, ${one.weights}, on ${one.device.name}`), element('td', {class: 'text'}, one.obstacle)))));
    at('more-rows').hidden = found.refused.length <= rows;
    at('more-rows').textContent = `Show more of ${commas(found.refused.length)} combinations`;
    reachable(at('rows').parentElement);
  }

  // One point -----------------------------------------------------------------------------------------------

  function detail() {
    const n = points.places.get(choices.at), empty = n === undefined;
    at('point').hidden = empty;
    if (empty) return;
    const one = points.combination(n), {model, device} = one;
    at('called').textContent = `${called(points, n)}, ${commas(points.isl(n))} tokens in, ${commas(points.same[0].osl)} out`;
    at('name').value = choices.names[choices.at] ?? '';
    at('facts').querySelector('tbody').replaceChildren(...apart(facts(points, n)).map(row => element('tr', {},
      element('th', {scope: 'row'}, row.says, ' ', element('a', {class: 'law-of', href: row.at, title: 'the derivation behind it'}, row.law)),
      element('td', {}, digits(row.value), Number.isNaN(row.value) ? '' : element('span', {class: 'unit'}, ` ${row.unit}`)),
      element('td', {}, interval(points, n, row, row.unit) || '–'))));
    reachable(at('facts').parentElement);
    const kind = points.known(n), mark = points.marks[kind];
    at('told').textContent = mark ? `Predicted for ${points.engine}, 90 % interval; ${mark.mark} ${kind}: ${mark.says}.` : `Not predicted for ${points.engine}: ${unpredicted(points, n)}.`;
    const number = `num-${`${one.name}:itl`.replace(/[^A-Za-z0-9_]+/g, '-')}`;
    at('links').replaceChildren(...[
      [inCalculator(points, n), 'in the calculator, with every law'], [`models/${model.id}.html`, model.name], [`hardware/${device.id}.html`, device.name],
      [`models/${model.id}.html#${number}`, 'its published numbers, at batch 32'], [one.notebook, 'its executed notebook (.ipynb)'],
    ].map(([href, text]) => element('li', {}, element('a', {href, download: href === one.notebook ? '' : null}, text))));
    at('commands').textContent = commands(points, n, choices.y);
  }

  at('name').addEventListener('input', () => {
    const {[choices.at]: _, ...others} = choices.names, name = nameOf(at('name').value);
    const full = name && Object.keys(others).length >= MOST_NAMES;
    notice = full ? `Not taken: at most ${MOST_NAMES} points have names.` : '';
    choices.names = name && !full ? {...choices.names, [choices.at]: name} : others;
    const typed = at('name').value;
    show();
    at('name').value = typed;
  });
  at('close').addEventListener('click', () => { choices.at = ''; show(); at('verdict').focus(); });

  // To take away -----------------------------------------------------------------------------------------------

  const forms = {markdown: [markdown, 'md', 'text/markdown'], csv: [csv, 'csv', 'text/csv'], json: [json, 'json', 'application/json']};
  const listed = () => [...new Set([...Object.keys(choices.names).map(id => points.places.get(id)), ...found.shown, ...found.bare])];
  const taken = name => forms[name][0](points, listed(), choices, location.href);
  const others = {link: () => location.href, commands: () => at('commands').textContent, bibtex: () => cited(points.bibtex, location.href)};
  const paper = () => drawing({width: 760, height: 420, ink: 'black', paper: 'white'}).tree;
  const pictures = {
    svg: async () => [asText(backed(paper())), 'image/svg+xml'],
    png: async () => [await asPng(backed(paper())), 'image/png'],
  };
  const backed = ([tag, attributes, ...children]) => [tag, attributes, ['rect', {width: '100%', height: '100%', fill: 'white'}], ...children];

  for (const button of place.querySelectorAll('button[data-copy]')) {
    const what = button.dataset.copy;
    button.addEventListener('click', async () => {
      await copy((others[what] ?? (() => taken(what)))(), place);
      at('copied').textContent = `${button.textContent} copied`;
    });
  }
  for (const button of place.querySelectorAll('button[data-download]')) {
    const what = button.dataset.download;
    button.addEventListener('click', async () => {
      const [content, type] = what in pictures ? await pictures[what]() : [taken(what), forms[what][2]];
      save(content, type, `inferecon-explorer.${what}`);
    });
  }

  at('unfold').addEventListener('click', () => { // on a phone, where the chart comes first
    const open = form.classList.toggle('open');
    at('unfold').setAttribute('aria-expanded', String(open));
  });
  at('more-rows').addEventListener('click', () => { rows += 4 * STEP; if (choices.runs === 'yes') table(); else refusals(); });
  form.addEventListener('input', event => event.target.name && changed(event));
  form.addEventListener('submit', event => event.preventDefault());
  form.elements.preset.addEventListener('input', event => {
    event.stopPropagation();
    const preset = presets[event.target.value];
    if (preset) set({...structuredClone(FIRST), names: choices.names, ...structuredClone(preset.choices)});
  });
  form.addEventListener('reset', event => { event.preventDefault(); form.elements.preset.value = ''; set(structuredClone(FIRST)); });
  addEventListener('popstate', recall);
  let wide = 0;
  new ResizeObserver(([box]) => {
    const now = Math.round(box.contentRect.width);
    if (found && now && now !== wide && choices.runs === 'yes') { wide = now; draw(); }
  }).observe(at('chart'));

  function recall() {
    ({choices, notice, offers} = read(points, location.search));
    fill();
    show();
  }
  recall();
}

if (typeof document !== 'undefined') document.querySelectorAll('.explorer').forEach(place => explore(place, explorerData)); // of js/points.js
