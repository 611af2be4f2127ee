// The calculator on the page: it reads the form, computes in one frame, and writes the answer.
// Everything that comes from outside reaches the page as text, never as markup.

import {MOST, NAMES, read, value, withOwn, write} from './address.mjs';
import {answered, atShares, memory, topics} from './answer.mjs';
import {MEMORY, barPicture} from './bar.mjs';
import {CARD, OWN_CARD, cardWords, carded} from './card.mjs';
import {beyond, changes, shortage} from './changes.mjs';
import {named} from './columns.mjs';
import {parsed, storedIn} from './config.mjs';
import {commands, csv, json, markdown, title} from './forms.mjs';
import {copy, element, save} from './page.mjs';
import {compared} from './reasons.mjs';
import {activationsFor, expertsDivide, expertsOver, headsDivide, offer} from './scenario.mjs';
import {asPng, asText} from './svg.mjs';
import {headline, operatorTable, resultTable} from './tables.mjs';
import {cited, decimal} from './text.mjs';
import {bytes, digits, several} from './words.mjs';

const KNOWN = {
  calibrated: '≈ calibrated, so model, card and engine were measured together',
  extrapolated: '~ extrapolated, so model, card and engine were not measured together',
};

// Offers by kind, each under its own name: what a model of costs says is no offer.
const OFFERS = {'on-demand': 'On-demand offers', spot: 'Spot offers, which may end at any time', 'tco-model': 'Modelled cost of ownership, no offer'};

export function start(place, known) {
  const presets = JSON.parse(place.querySelector('script.presets').textContent);
  const form = place.querySelector('form'), at = name => place.querySelector(`[data-at="${name}"]`);
  let records = known, columns = [], answers = [], pending = 0, later = 0, notice = '', stale = '';

  // The form ----------------------------------------------------------------------------------------

  function fill(choices) {
    for (const [name, kind] of [['model', records.models], ['hardware', records.hardware]]) {
      if (kind.own && !form.elements[name].querySelector('[value=own]')) form.elements[name].prepend(new Option(kind.own.name, 'own'));
    }
    open('tp', [['', 'fewest that hold it'], ...headsDivide(records, choices.model).map(n => [n, n])]);
    open('ep', [['', 'as TP'], ...expertsDivide(records, choices.model).map(n => [n, n])]);
    const offers = records.hardware[choices.hardware].offers, lowest = offer(records, {...choices, provider: ''});
    const price = one => `${digits(one.price * 3600)} USD/h, ${one.provider}`, of = kinds => offers.filter(({kind}) => kinds.includes(kind)).sort((a, b) => a.price - b.price).map(one => [one.provider, price(one)]);
    const known = Object.keys(OFFERS);
    open('provider', [['', lowest ? `lowest on-demand offer: ${price(lowest)}` : 'no on-demand offer on record']], [
      ...known.map(kind => [OFFERS[kind], of([kind])]), ['Other', of([...new Set(offers.map(({kind}) => kind))].filter(kind => !known.includes(kind)))],
    ]);
    open('activations', [['', `with the weights: ${activationsFor(records, choices.weights)}`], ...records.roles.activations.map(id => [id, id])]);
    for (const name of NAMES) {
      const field = form.elements[name];
      if (field) field.value = decimal(choices[name] ?? '');
    }
    for (const name of ['arithmetic', 'bandwidth']) form.elements[name].placeholder = 100;
    form.elements.pue.placeholder = records.given.pue;
    form.elements.intensity.placeholder = digits(records.grids[choices.grid].given.grid_intensity * 3.6e6);
    if (NAMES.some(name => !['model', 'hardware', 'weights', 'batch', 'isl', 'osl', 'unit'].includes(name) && (choices[name] ?? '') !== (records.defaults[name] ?? ''))) at('more').open = true;
  }

  // Options of a field, and groups of them with their names; the choice stays if it is still one.
  function open(name, options, groups = []) {
    const select = form.elements[name], listed = new Set(), before = select.value;
    const made = list => list.filter(([id]) => !listed.has(String(id)) && listed.add(String(id))).map(([id, says]) => new Option(says, id));
    const grouped = groups.filter(([, list]) => list.length).map(([label, list]) => element('optgroup', {label}, made(list)));
    select.replaceChildren(...made(options), ...grouped);
    if (listed.has(before)) select.value = before;
  }

  // What the form says; a field with a mistake keeps its place, and the mistake is said beside it.
  function chosen() {
    const choices = {...columns[0]}, wrong = [];
    for (const name of NAMES) {
      const field = form.elements[name];
      if (!field) continue;
      const [found, said] = value(records, name, field.value.trim(), choices.hardware);
      if (field.setAttribute) field.setAttribute('aria-invalid', String(Boolean(said)));
      if (said && name === 'provider') choices.provider = '';
      else if (said) wrong.push(said);
      else choices[name] = found;
    }
    return [choices, wrong];
  }

  function changed(event) {
    const [choices, wrong] = chosen(), {name} = event?.target ?? {};
    // what belonged to another model or device is left open again
    if (name === 'model') Object.assign(choices, fitting(choices));
    if (name === 'hardware') Object.assign(choices, {provider: '', tp: null, ep: null});
    if (name === 'weights') choices.activations = null;
    if (name === 'tp' && choices.tp === null) choices.ep = null;
    if (name === 'ep' && choices.ep !== null && choices.tp === null) choices.tp = answers[0].choices.tp;
    columns[0] = choices;
    stale = '';
    notice = wrong.length ? `Not taken: ${wrong.join('; ')}.` : '';
    if (['model', 'hardware', 'weights', 'tp', 'ep', 'grid'].includes(name)) fill(choices);
    soon();
  }

  function fitting({model, tp, ep}) {
    const divides = headsDivide(records, model).includes(tp);
    return divides && (ep === null || expertsDivide(records, model).includes(ep)) ? {} : {tp: null, ep: null};
  }

  // A model of the reader's own: the text stays in the page, only counts go into its address.
  function take(text) {
    const [model, wrong] = parsed(text);
    if (wrong) return refused('config', wrong, 'model', records.models);
    const [weights, says] = storedIn(text), can = records.roles.weights.includes(weights);
    records = withOwn(known, model, records.hardware.own);
    set({model: 'own', tp: null, ep: null, ...(can && {weights, activations: null})});
    at('config').textContent = `Taken as “your own model”${can ? `; ${says}` : ''}.`;
  }

  // What was not taken changes nothing: the answer then says of what it still is.
  function refused(place_, wrong, name, kind) {
    at(place_).textContent = `Not taken: ${wrong}.`;
    stale = `Not taken, so all below is still of ${kind[columns[0][name]].name}.`;
    soon();
  }

  // A card of the reader's own: nothing but what is stated, and no source behind it.
  const cardField = name => place.querySelector(`[name="card-${name}"]`);

  function takeCard() {
    const texts = Object.fromEntries(['unit', ...Object.keys(CARD)].map(name => [name, cardField(name).value.trim()]));
    const [card, wrong] = carded(texts);
    if (wrong) return refused('card', wrong, 'hardware', records.hardware);
    at('card').textContent = `Taken as “${OWN_CARD}”.`;
    records = withOwn(known, records.models.own, card);
    set({hardware: 'own', provider: '', tp: null, ep: null});
  }

  function recallCard() {
    const card = records.hardware.own;
    for (const name of Object.keys(CARD)) cardField(name).value = decimal(card?.stated[name] ?? '');
    cardField('unit').value = card?.unit ?? 'GB';
  }

  function set(change) {
    columns[0] = {...columns[0], ...change};
    notice = stale = '';
    fill(columns[0]);
    soon();
  }

  // The answer ----------------------------------------------------------------------------------------

  function soon() {
    pending ||= requestAnimationFrame(() => { pending = 0; show(); });
  }

  function show() {
    answers = columns.map(raw => answered(records, raw));
    const [now] = answers, {unit} = columns[0];
    at('notice').textContent = notice;
    at('stale').textContent = stale;
    verdict(now, unit);
    bar(now, unit);
    const found = topics(records, answers, unit), said = now.prediction;
    at('known').textContent = said ? (said.reason ? `Not predicted for ${said.engine}: ${said.reason}.` : `Predicted for ${said.engine}, with the interval that holds nine in ten; ${KNOWN[said.known]}. ${ofBounds(now.choices)}`) : '';
    at('headline').hidden = !now.runs;
    if (now.runs) at('headline').replaceChildren(...headline(found.flatMap(one => one.rows), now));
    table(found);
    clearTimeout(later);
    // the numbers first: what would do instead, and why columns differ, takes longer than a frame
    if (!now.runs || columns.length > 1) later = setTimeout(() => { if (!now.runs) suggest(now); if (columns.length > 1) explain(); });
    at('phases').hidden = !now.runs;
    if (now.runs) operatorTable(at('phases').querySelector('table'), records, now.values);
    at('commands').textContent = now.wrong ? '' : commands(now.choices, records);
    at('own-card').textContent = columns.some(({hardware}) => hardware === 'own') ? `Your own card, without a source: ${cardWords(records.hardware.own)}.` : '';
    at('keep').disabled = columns.length >= MOST;
    const query = write(records, columns);
    history.replaceState(null, '', location.pathname + (query && `?${query}`) + location.hash);
    place.dataset.ready = 'true';
  }

  function verdict(now, unit) {
    const {choices} = now, devices = Math.max(choices.tp, choices.ep);
    const on = `${several(devices, 'device')}${devices > 1 ? ` (TP ${choices.tp}, EP ${choices.ep})` : ''}`;
    const says = now.wrong || (now.runs ? `It fits on ${on}.` : 'It does not run.');
    at('verdict').textContent = now.wrong ? `Cannot be: ${says}.` : says;
    at('verdict').dataset.runs = now.runs;
    const short = now.wrong ? '' : shortage(now.values, unit);
    const reasons = now.obstacles.map(said => (short && said.includes(' are needed on each of ') ? short : said));
    at('why').replaceChildren(...reasons.map(said => element('li', {}, `${said}.`)));
    at('why').hidden = !reasons.length;
    at('instead').hidden = now.runs;
    at('instead').firstElementChild.textContent = 'Looking for what lets it run …';
    for (const name of ['changes', 'beyond']) at(name).replaceChildren();
  }

  function suggest(now) {
    const found = changes(records, columns[0]);
    at('changes').replaceChildren(...found.map(({says: said, set: change}) => {
      const button = element('button', {type: 'button'}, said);
      button.addEventListener('click', () => { set(change); at('verdict').focus(); });
      return element('li', {}, button);
    }));
    at('instead').firstElementChild.textContent = found.length ? 'Any of these lets it run:' : 'No change of those tried lets it run, nor any two.';
    at('beyond').textContent = now.wrong ? '' : beyond(records, columns[0]);
  }

  function bar(now, unit) {
    const parts = now.wrong ? {} : memory(now.values), shown = Object.entries(MEMORY).filter(([name]) => parts[name] > 0);
    // what does not fit is a part of the cache or the weights: the bar ends where they do
    const total = parts.weights + parts.cache + parts.free + parts.kept;
    at('bar').hidden = !(total > 0);
    if (!(total > 0)) return;
    const width = name => (name === 'over' ? 0 : 100 * parts[name] / total);
    const stack = shown.filter(([name]) => name !== 'over').map(([name]) => element('span', {class: `part ${name}`, style: `width: ${width(name)}%`}));
    if (parts.over > 0) stack.push(element('span', {class: 'limit', style: `left: ${100 * now.values.memory_available / total}%`}));
    at('bar').querySelector('.stack').replaceChildren(...stack);
    at('bar').querySelector('ul').replaceChildren(...shown.map(([name, says]) => element('li', {class: name}, `${says} ${bytes(parts[name], unit)}`)));
  }

  function ofBounds({arithmetic, bandwidth, tp, ep}) {
    if (atShares({arithmetic, bandwidth})) return 'What is derived takes the shares of the peaks that you state, so it is no bound; the prediction has fitted ones.';
    return Math.max(tp, ep) > 1 ? 'A bound takes the peaks of the datasheet as reached, and plain ring collectives between devices.' : 'A bound takes the peaks of the datasheet as reached, so no machine beats it.';
  }

  function explain() {
    answers = compared(records, answers);
    table(topics(records, answers, columns[0].unit));
  }

  function table(found) {
    const actions = columns.map((_, n) => ({
      use: () => { [columns[0], columns[n]] = [{...columns[n], unit: columns[0].unit}, columns[0]]; fill(columns[0]); soon(); },
      drop: () => { columns.splice(n, 1); soon(); },
    }));
    resultTable(at('rows'), found, columns.length > 1 ? named(records, columns) : [], actions);
    at('wide').textContent = columns.length > 1 ? `${columns.length} columns; where they are wider than the screen, the table scrolls sideways.` : '';
  }

  // To take away -----------------------------------------------------------------------------------------

  const forms = {markdown: [markdown, 'md', 'text/markdown'], csv: [csv, 'csv', 'text/csv'], json: [json, 'json', 'application/json']};
  const taken = name => forms[name][0](records, answers, columns[0].unit, location.href);
  const others = {link: () => location.href, commands: () => at('commands').textContent, bibtex: () => cited(records.bibtex, location.href)};

  for (const button of place.querySelectorAll('button[data-copy]')) {
    const what = button.dataset.copy;
    button.addEventListener('click', async () => {
      await copy((others[what] ?? (() => taken(what)))(), place);
      at('copied').textContent = `${button.textContent} copied`;
    });
  }
  for (const button of place.querySelectorAll('button[data-download]')) button.addEventListener('click', async () => {
    const what = button.dataset.download, picture = () => barPicture(answers[0].values, columns[0].unit, `Memory of one device: ${title(answers[0].choices)}`);
    if (what === 'svg') save(asText(picture()), 'image/svg+xml', 'inferecon-memory.svg');
    else if (what === 'png') save(await asPng(picture()), 'image/png', 'inferecon-memory.png');
    else save(taken(what), forms[what][2], `inferecon.${forms[what][1]}`);
  });

  at('keep').addEventListener('click', () => { columns.push({...columns[0]}); soon(); });
  form.addEventListener('input', changed);
  form.addEventListener('submit', event => event.preventDefault());
  form.elements.preset.addEventListener('input', event => {
    event.stopPropagation();
    const found = presets[event.target.value];
    if (found) set({...records.defaults, unit: columns[0].unit, ...found.choices});
  });
  form.addEventListener('reset', event => { event.preventDefault(); form.elements.preset.value = ''; columns = [{...records.defaults}]; set({}); });
  at('take-card').addEventListener('click', takeCard);
  at('take').addEventListener('click', () => take(at('text').value));
  at('file').addEventListener('change', async () => {
    const [file] = at('file').files;
    if (file) take(file.size > 1e6 ? ' '.repeat(1e6 + 1) : at('text').value = await file.text());
  });
  addEventListener('popstate', recall);

  function recall() {
    ({records, columns, notice} = read(known, location.search));
    recallCard();
    fill(columns[0]);
    show();
  }
  recall();
}

if (typeof document !== 'undefined') document.querySelectorAll('.calculator').forEach(place => start(place, calculatorRecords)); // of js/records.js
