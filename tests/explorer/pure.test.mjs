// The pure modules of the explorer, without a browser: MODULES and DATA say where they are.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {pathToFileURL} from 'node:url';

const load = name => import(pathToFileURL(`${process.env.MODULES}/${name}.mjs`));
const [words, text, svg, all, place, ranks, drawing, taking, nearest, ways, verdict] = await Promise.all(['words', 'text', 'svg', 'points', 'place', 'ranks', 'drawing', 'taking', 'nearest', 'ways', 'verdict'].map(load));
const {data, rows, vectors} = JSON.parse(readFileSync(process.env.DATA, 'utf8'));
const points = all.opened(data), {FIRST} = place;
const SENT = {...FIRST, basis: 'bound'}; // the first view while links named no basis
const chosen = some => place.settledAxes(points, {...structuredClone(SENT), model: [], ...some});
const shown = some => ranks.view(points, chosen(some));
const bases = [['bound', ''], ['predicted', '_predicted']];
const list = [...points.places.values()];

// Values --------------------------------------------------------------------------------------------

test('three digits survive their code', () => {
  const {columns: {only}} = all.opened({...data, columns: {only: vectors.codes}});
  vectors.values.forEach((said, n) => assert.equal(words.digits(only[n]), said));
});

test('every value of the dataset is shown with its digits', () => {
  assert.equal(points.count, rows.length);
  for (const row of rows) {
    const n = points.places.get(row.id);
    for (const metric of Object.values(points.metrics)) {
      assert.equal(words.digits(all.amount(points, metric.key, 'bound', n)), row[metric.key], `${row.id} ${metric.key}`);
      if (!metric.foretold) continue;
      const found = [all.amount(points, metric.key, 'predicted', n), ...(all.ends(points, metric.key, 'predicted', n) ?? [NaN, NaN])];
      assert.deepEqual(found.map(x => words.digits(x)), row[`${metric.key}_predicted`], `${row.id} ${metric.key}`);
    }
    assert.equal(points.known(n), row.known);
  }
});

test('a combination that cannot run says why and has no point', () => {
  const refused = points.combinations.filter(one => one.obstacle);
  assert.ok(refused.length > 0 && refused.length < points.combinations.length);
  for (const one of refused) assert.ok(!list.some(n => points.combination(n) === one));
});

// The address -----------------------------------------------------------------------------------------

const trip = choices => place.read(points, `?${place.write(choices)}`);

test('the first view has an empty address, and an empty address the first view', () => {
  assert.equal(place.write(FIRST), '');
  assert.deepEqual(place.read(points, ''), {choices: FIRST, offers: [], notice: ''});
  assert.equal(FIRST.basis, 'predicted');
});

test('every choice comes back from the address', () => {
  const id = points.id(0), other = points.id(points.count - 1);
  const every = {
    basis: 'bound', x: 'ttft', y: 'energy_per_token', isl: 8192, batch: 16, runs: 'no', front: 'only', sort: 'itl', down: 'down', itl: 20, ttft: 500,
    family: ['DeepSeek', 'others'], model: ['llama-3.1-8b', 'qwen3-30b-a3b'], device: ['l40s'], weights: ['bf16', 'fp8'], tp: ['1', '8'], at: id,
    names: {[id]: 'ours, at 50 % & more', [other]: '<b>*=+~</b>'},
  };
  for (const [name, value] of Object.entries(every)) {
    const choices = {...structuredClone(FIRST), [name]: value};
    assert.deepEqual(trip(choices), {choices, offers: [], notice: ''}, name);
  }
  for (const basis of ['bound', 'predicted']) assert.deepEqual(trip({...FIRST, ...every, basis}).choices, {...FIRST, ...every, basis});
  assert.deepEqual(trip(chosen({})).choices.model, []); // all models is a choice, too
});

test('links that were sent before still say the same', () => { // never edit these, only add
  const {choices} = place.read(points, '?x=batch&y=energy_per_token&model=deepseek-v3&device=h200-sxm&weights=bf16~fp8');
  assert.deepEqual(choices, {...SENT, x: 'batch', y: 'energy_per_token', batch: 'all', device: ['h200-sxm'], weights: ['bf16', 'fp8']});
  const {choices: named} = place.read(points, '?basis=predicted&itl=20&ttft=500&model=&name=llama-3.1-8b/h200-sxm/fp8/16/1024*ours');
  assert.deepEqual(named, {...FIRST, basis: 'predicted', itl: 20, ttft: 500, model: [], names: {'llama-3.1-8b/h200-sxm/fp8/16/1024': 'ours'}});
  for (const [search, asked] of [['?itl=20', {itl: 20}], ['?model=', {model: []}], ['?at=deepseek-v3/h200-sxm/fp8/16/1024', {at: 'deepseek-v3/h200-sxm/fp8/16/1024'}]]) {
    assert.deepEqual(place.read(points, search).choices, {...SENT, ...asked}, search); // bounds, since it names no basis
  }
  assert.equal(place.read(points, '?utm_source=mail').choices.basis, FIRST.basis); // which asks for nothing
});

test('every address that says something names its basis', () => {
  assert.equal(place.write({...FIRST, itl: 20}), 'basis=predicted&itl=20');
  assert.equal(place.write({...FIRST, basis: 'bound'}), 'basis=bound');
});

test('what cannot be brings the nearest that can', () => {
  const near = search => { const {notice, offers, choices} = place.read(points, search); return [notice.slice('Ignored in the address of this page: '.length), offers[0]?.change, choices.model]; };
  assert.deepEqual(near('?model=deepseek-v4'), ['model cannot be “deepseek-v4”, the nearest is DeepSeek-V3, deepseek-v3.', {model: ['deepseek-v3']}, FIRST.model]);
  assert.deepEqual(near('?model=llama-3.1-8b~llama70b'), ['model cannot be “llama70b”, the nearest is Llama-3.1-70B, llama-3.1-70b.', {model: ['llama-3.1-70b', 'llama-3.1-8b'].sort((a, b) => data.models.findIndex(({id}) => id === a) - data.models.findIndex(({id}) => id === b))}, ['llama-3.1-8b']]);
  assert.deepEqual(near('?model=nope').slice(2), [FIRST.model]);
  assert.match(near('?model=nope')[0], /^model cannot be “nope”, the nearest is .+\.$/);
  assert.deepEqual(near('?itl=24')[1], {itl: 20});
  assert.deepEqual(near('?batch=17')[1], {batch: 16});
  assert.equal(nearest.distance('kitten', 'sitting'), 3); // k to s, e to i, and a g
});

test('a value that cannot be is ignored, and one sentence says so', () => {
  const hostile = {
    x: ['<img src=x onerror=alert(1)>', '__proto__', 'constructor', ''], y: ['batch', 'toString'], basis: ['measured'], isl: ['1', '1e3', ' 1024'],
    batch: ['-1', '1e99', 'NaN', '16.0'], runs: ['maybe'], front: ['true'], sort: ['hasOwnProperty'], itl: ['20.0', '-20', 'Infinity', '0x14', '1'.repeat(400)],
    ttft: ['٥٠٠'], model: ['../../etc/passwd', 'gpt-5', '__proto__'], device: ['h200-sxm\u0000'], weights: ['fp8,bf16'], tp: ['3', '1.0'], family: ['deepseek'],
    at: ['nothing', '__proto__', 'llama-3.1-8b/h200-sxm/fp8/3/1024'], name: ['x', '*x', '__proto__*x', 'llama-3.1-8b/h200-sxm/fp8/16/1024*', `${'a/'.repeat(99)}*b`],
  };
  for (const [name, texts] of Object.entries(hostile)) {
    for (const said of texts) {
      const {choices, notice} = place.read(points, `?${new URLSearchParams({[name]: said})}`);
      assert.deepEqual(choices, SENT, `${name}=${said}`);
      assert.match(notice, /^Ignored in the address of this page: .*\.$/s, `${name}=${said}`);
      assert.ok(notice.length < 250, notice);
    }
  }
  assert.equal({}.names, undefined);
});

test('a name is one short line, and few points have one', () => {
  const id = points.id(0), {choices} = place.read(points, `?name=${encodeURIComponent(`${id}*a\n\u202e\u0007b${'c'.repeat(99)}`)}`);
  assert.equal(choices.names[id], `a b${'c'.repeat(37)}`);
  const many = list.slice(0, 20).map(n => `name=${points.id(n)}*n${n}`).join('&');
  assert.equal(Object.keys(place.read(points, `?${many}`).choices.names).length, place.MOST_NAMES);
});

test('no axis asks for what is not predicted, nor for what the other shows', () => {
  assert.equal(place.read(points, '?basis=predicted&y=energy_at_limit').choices.y, 'cost_per_token');
  assert.match(place.read(points, '?basis=predicted&y=energy_at_limit').notice, /energy_at_limit/);
  const {choices: {x, y}} = place.read(points, '?x=cost_per_token');
  assert.ok(x === 'cost_per_token' && y !== x);
});

// Ranks and fronts ------------------------------------------------------------------------------------

test('a front by hand', () => {
  const columns = {...points.columns, itl: Float64Array.of(1, 2, 3, 4, 2, 1, NaN), cost_per_token: Float64Array.of(9, 5, 5, 1, 5, 9, 0)};
  const found = ranks.front({...points, columns}, [0, 1, 2, 3, 4, 5, 6], SENT);
  // (1, 9) and (2, 5) come twice and stay once; (3, 5) is beaten by (2, 5); the last has no place
  assert.deepEqual(found, [0, 1, 3]);
});

test('no point beats one of the front, and every other one is beaten', () => {
  for (const [basis] of bases) {
    for (const x of ['itl', 'ttft']) {
      for (const y of ['cost_per_token', 'carbon_per_token', 'energy_per_token']) {
        const choices = chosen({basis, x, y, batch: 'all'}), {shown: all_, edge, on} = ranks.view(points, choices);
        const at = n => [x, y].map(key => all.amount(points, key, basis, n));
        const beats = (one, other) => { const [a, b] = [at(one), at(other)]; return a[0] <= b[0] && a[1] <= b[1] && (a[0] < b[0] || a[1] < b[1]); };
        assert.ok(edge.length > 0, `${basis} ${x} ${y}`);
        for (const n of edge) assert.ok(!all_.some(other => beats(other, n)));
        for (const n of all_) assert.ok(on.has(n) || all_.some(other => beats(other, n) || String(at(other)) === String(at(n))));
      }
    }
  }
});

test('a goal drops what misses it and ranks the rest again', () => {
  const free = shown({}), held = shown({itl: 5});
  const itl = n => all.amount(points, 'itl', 'bound', n), cost = n => all.amount(points, 'cost_per_token', 'bound', n);
  assert.ok(held.shown.length > 0 && held.shown.every(n => itl(n) <= 5) && free.shown.some(n => itl(n) > 5));
  assert.notEqual(points.id(free.shown[0]), points.id(held.shown[0]));
  held.shown.forEach((n, place_) => assert.ok(!place_ || cost(held.shown[place_ - 1]) <= cost(n)));
  for (const n of held.shown.filter(one => !held.on.has(one))) { // of each combination the cheapest that meets the goal
    const same = list.filter(other => points.place(other) === points.place(n) && points.isl(other) === 1024 && itl(other) <= 5);
    assert.equal(cost(n), Math.min(...same.map(cost)));
  }
});

test('lists let pass what they name, and everything when empty', () => {
  const {shown: found} = shown({device: ['l40s'], weights: ['fp8'], batch: 'all', y: 'energy_at_limit'});
  assert.ok(found.length > 0 && found.every(n => points.combination(n).device.id === 'l40s' && points.combination(n).weights === 'fp8'));
  assert.deepEqual(shown({family: ['Gemma']}).shown, []);
});

test('what has no figure for an axis is counted, never drawn', () => {
  const view = shown({device: ['gaudi3'], batch: 'all'}); // no price is on record
  assert.deepEqual([view.shown, view.edge], [[], []]);
  assert.ok(view.without.length > 0);
});

test('predicted ranks what is predicted, and keeps the rest apart with its reason', () => {
  const {shown: found, bare, unpredicted, without, running} = shown({basis: 'predicted', model: ['llama-3.1-8b']});
  assert.ok(found.length > 0 && found.every(n => all.predicted(points, n)));
  assert.ok(bare.length > 0 && bare.every(n => !all.predicted(points, n) && all.unpredicted(points, n)));
  assert.equal(ranks.combinationsOf(points, found).size + unpredicted.length + without.length, running);
  const price = found.map(n => all.amount(points, 'cost_per_token', 'predicted', n));
  assert.deepEqual(price, [...price].sort((a, b) => a - b));
  assert.match(verdict.reasons(points, unpredicted), /^no row with weights in int8-w8a8 was measured \(\d+\)/);
});

test('a goal is held against what is predicted, and a bound that misses it is out as well', () => {
  const limit = 10, {shown: found, bare} = shown({basis: 'predicted', itl: limit}), itl = (basis, n) => all.amount(points, 'itl', basis, n);
  assert.ok(found.length > 0 && found.every(n => itl('predicted', n) <= limit) && bare.every(n => itl('bound', n) <= limit));
  const ideal = shown({itl: limit}).shown;
  assert.ok(ideal.some(n => itl('predicted', n) > limit), 'a bound meets goals that a service misses');
});

test('a view without a point says which choice left none, and every way out leaves what it says', () => {
  const empty = [
    [{model: ['llama-3.1-70b'], itl: 2}, /none of \d+ combinations has ITL of at most 2 ms; the lowest ITL is [\d.]+ ms, of /],
    [{family: ['Gemma'], model: ['deepseek-v3']}, /no combination has all that the lists ask for/],
    [{model: ['deepseek-v3'], device: ['l40s'], weights: ['bf16']}, /the one combination that the lists let pass cannot run: /],
    [{model: ['llama-3.1-70b'], device: ['h200-sxm'], weights: ['bf16'], batch: 256, isl: 8192}, /none has room for batch 256 at 8,192 tokens in/],
    [{device: ['gaudi3']}, /no figure is on record for price of output tokens/],
    [{basis: 'predicted', weights: ['int8-w8a8']}, /combinations? without a prediction: no row with weights in int8-w8a8 was measured/],
    [{model: ['deepseek-v3'], device: ['l40s'], weights: ['bf16'], itl: 2}, /cannot run/],
  ];
  for (const [some, why] of empty) {
    const choices = chosen({batch: 'all', ...some}), found = ranks.view(points, choices);
    assert.deepEqual(found.shown, [], JSON.stringify(some));
    assert.match(verdict.cause(points, found, choices), why);
    const out = ways.ways(points, choices);
    assert.ok(out.length > 0 && out.length <= 6, JSON.stringify(some));
    for (const {says, change, keeps} of out) {
      const left = ranks.view(points, place.settledAxes(points, {...choices, ...change})).shown;
      assert.ok(keeps > 0 && ranks.combinationsOf(points, left).size === keeps, says);
    }
  }
  const [way] = ways.ways(points, chosen({model: ['llama-3.1-70b'], itl: 2})), above = place.LIMITS.itl.filter(limit => limit > 2 && limit < way.change.itl);
  for (const itl of above) assert.deepEqual(shown({model: ['llama-3.1-70b'], itl}).shown, [], 'a nearer goal would leave some, too');
});

test('in a crowd the front is strong and the rest steps back', () => {
  const many = {...points}, choices = chosen({batch: 'all', isl: 1024}), view = ranks.view(points, choices), strength = tree => [...svg.asText(tree).matchAll(/opacity="([\d.]+)"/g)].map(([, one]) => Number(one));
  assert.ok(view.shown.length < 500 && !strength(drawing.chart(many, view, choices, look).tree).includes(0.22));
  const crowd = {...view, shown: Array.from({length: 40}, () => view.shown).flat()};
  const drawn = drawing.chart(many, {...crowd, shown: list}, choices, look);
  assert.equal(strength(drawn.tree).includes(0.22), list.length > 500);
});

test('over batch there are lines, from the smallest to the largest', () => {
  const view = shown({x: 'batch', y: 'energy_per_token', device: ['h200-sxm']});
  assert.ok(view.over && view.edge.length === 0 && view.lines.length > 1);
  for (const line of view.lines) {
    assert.equal(new Set(line.map(points.place)).size, 1);
    assert.deepEqual(line.map(points.batch), [...line.map(points.batch)].sort((a, b) => a - b));
  }
  assert.match(drawing.finding(points, view, chosen({x: 'batch', y: 'energy_per_token'})), /falls by a factor of/);
});

test('what is missing comes last whichever way it is sorted', () => {
  for (const down of ['', 'down']) {
    const choices = chosen({y: 'energy_at_limit', sort: 'cost_per_token', down}), found = ranks.view(points, choices).shown.map(n => all.amount(points, 'cost_per_token', 'bound', n));
    const first = found.findIndex(Number.isNaN);
    assert.ok(first > 0 && found.slice(first).every(Number.isNaN));
    assert.ok(down ? found[0] >= found[first - 1] : found[0] <= found[first - 1]);
  }
});

// The chart ---------------------------------------------------------------------------------------------

const look = {width: 760, height: 400, ink: 'black', paper: 'white'};
const draw = some => drawing.chart(points, shown(some), chosen(some), look);

test('every point has a place inside, in the order of its values', () => {
  const {places} = draw({batch: 'all'});
  for (const [, x, y] of places) assert.ok(x >= 58 && x <= 746 && y >= 0 && y <= 460);
  const [a, b] = places, values = [a, b].map(([n]) => all.amount(points, 'itl', 'bound', n));
  assert.equal(Math.sign(values[0] - values[1]), Math.sign(a[1] - b[1]));
});

test('bounds are filled and predictions are hollow, and the key says so', () => {
  const bound = svg.asText(draw({}).tree), predicted = svg.asText(draw({basis: 'predicted'}).tree);
  assert.ok(!bound.includes('hollow') && predicted.includes('hollow: predicted'));
  assert.ok(bound.includes('front, derived bound') && predicted.includes('front, predicted'));
  assert.ok(bound.includes('inter-token latency (ITL) (ms)') && predicted.includes('time per output token'));
});

test('a name in the chart is text, whatever is in it', () => {
  const names = {[points.id(shown({}).shown[0])]: '<script>"&\u0000</script>'};
  const made = svg.asText(draw({names}).tree);
  assert.ok(made.includes('&lt;script&gt;&quot;&amp;&lt;/script&gt;') && !made.includes('<script') && !made.includes('\u0000'));
});

test('a view without a point is still a chart', () => {
  assert.ok(svg.asText(draw({family: ['Gemma']}).tree).includes('No point is left'));
  assert.match(drawing.alternative(points, shown({family: ['Gemma']}), chosen({})), /^No point is left/);
});

test('ticks are round and stand where the axis is', () => {
  assert.deepEqual(drawing.ticks(0.9, 110, 120), [1, 3, 10, 30, 100]);
  assert.deepEqual(drawing.ticks(0.02, 0.6, 150), [0.02, 0.05, 0.1, 0.2, 0.5]);
});

// To take away ------------------------------------------------------------------------------------------

const link = 'https://example.org/explorer.html?x=ttft&y=itl_%7E';

test('CSV has as many fields in every line and no formula', () => {
  const names = {[points.id(list[0])]: '=1+1'}, lines = taking.csv(points, list, {...FIRST, names}, link).trim().split('\r\n');
  const count = line => line.split(',').length;
  assert.equal(lines.length, 1 + list.length + 3);
  for (const line of lines.slice(0, -3)) assert.equal(count(line), count(lines[0]));
  assert.ok(lines[1].includes(",'=1+1,") && lines[0].includes('itl (ms),itl_predicted (ms),itl_low (ms),itl_high (ms)'));
});

test('JSON tells bound and prediction apart, with units', () => {
  const {points: found, units, edition} = JSON.parse(taking.json(points, list, FIRST, link));
  assert.equal(edition, points.edition);
  assert.equal(units.itl, 'ms');
  const one = found.find(({results}) => results.itl.predicted);
  assert.ok(one.results.itl.low <= one.results.itl.predicted && one.results.itl.derived > 0 && one.known);
});

test('Markdown has a line a point, the marks and the link', () => {
  const made = taking.markdown(points, list.slice(0, 7), FIRST, link);
  assert.equal(made.split('\n').filter(line => line.startsWith('| ') && !line.startsWith('| point')).length, 7);
  assert.ok(made.includes('~ extrapolated') && made.includes(link));
});

test('BibTeX has the address, harmless to TeX', () => {
  const made = text.cited(points.bibtex, link);
  assert.ok(made.includes('\\texttt{https://example.org/explorer.html?x=ttft\\&y=itl\\_\\%7E}') && made.startsWith('@misc{'));
});

test('commands name every parameter', () => {
  const n = points.places.get('deepseek-v3/h200-sxm/fp8/16/1024'), [papermill, run, trace, query] = taking.commands(points, n, 'itl').split('\n');
  assert.match(papermill, /^papermill notebooks\/scenario\.ipynb out\.ipynb -p model deepseek-v3 .* -p tp 8 -p ep 8 -p batch 16 -p isl 1024 /);
  assert.match(run, /^inferecon run out\.ipynb -p model=deepseek-v3 /);
  assert.match(trace, /^inferecon trace deepseek-v3 h200-sxm fp8 itl --batch 16 /);
  assert.match(query, /^inferecon query 'SELECT \* FROM results WHERE combination = /);
});
