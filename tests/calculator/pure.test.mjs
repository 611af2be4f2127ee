// The pure modules of the calculator, without a browser: MODULES and DATA say where they are.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {pathToFileURL} from 'node:url';

const load = name => import(pathToFileURL(`${process.env.MODULES}/${name}.mjs`));
const [words, address, scenario, answer, change, column, forms, card, bar, operators, reason, svg, texts] = await Promise.all(['words', 'address', 'scenario', 'answer', 'changes', 'columns', 'forms', 'card', 'bar', 'operators', 'reasons', 'svg', 'text'].map(load));
const {records, vectors, presets} = JSON.parse(readFileSync(process.env.DATA, 'utf8'));
const {defaults} = records;
const answered = choices => answer.answered(records, {...defaults, ...choices});
const small = {model: 'llama-3.1-8b', weights: 'bf16', hardware: 'h100-sxm'};

// Numbers ------------------------------------------------------------------------------------------

test('a number has the digits that Python gives it', () => {
  for (const [value, text] of vectors) assert.equal(words.digits(value), text, String(value));
  assert.equal(words.digits(NaN), '–');
  assert.equal(words.digits(Infinity), '∞');
});

test('memory is written in GB or GiB, never bare', () => {
  assert.equal(words.bytes(16.06e9, 'GB'), '16.1 GB');
  assert.equal(words.bytes(2 ** 34, 'GiB'), '16 GiB'); // 2^34 / 2^30
});

test('a difference is in per cent, with its sign', () => {
  assert.equal(words.difference(3, 2), '+50 %');
  assert.equal(words.difference(1.5, 2), '−25 %');
  assert.equal(words.difference(2, 2), '±0 %');
  assert.equal(words.difference(40, 2), '+1,900 %');
  assert.equal(words.difference(1, 0), '');
  assert.equal(words.difference(NaN, 1), '');
});

// The address -----------------------------------------------------------------------------------------

const read = search => { const {records: own, ...others} = address.read(records, search); return others; };
const trip = columns => read(`?${address.write(records, columns)}`);

test('the first view has an empty address, and an empty address the first view', () => {
  assert.equal(address.write(records, [defaults]), '');
  assert.deepEqual(read(''), {columns: [defaults], notice: ''});
});

test('every choice comes back from the address', () => {
  const every = {
    model: 'qwen3-30b-a3b', hardware: 'b200-sxm', weights: 'nvfp4', activations: 'bf16', kv: 'kv-fp8', tp: 4, ep: 1,
    batch: 7, isl: 2000, osl: 300, grid: 'fra', price: 2.5, intensity: 21, pue: 1.3, arithmetic: 40, bandwidth: 80.5, unit: 'GiB',
  };
  for (const [name, value] of Object.entries(every)) {
    const columns = [{...defaults, [name]: value}];
    assert.deepEqual(trip(columns), {columns, notice: ''}, name);
  }
  const provider = records.hardware['h200-sxm'].offers.at(-1).provider;
  const columns = [{...defaults, ...every}, {...defaults, provider, unit: 'GiB'}, {...defaults, unit: 'GiB'}];
  assert.deepEqual(trip(columns), {columns, notice: ''});
});

test('a column that is left open differs from one that is not', () => {
  const columns = [{...defaults, tp: 8, ep: 8, pue: 1.2}, {...defaults}, {...defaults, tp: 8, ep: 8, pue: 1.2}];
  assert.deepEqual(trip(columns).columns, columns);
});

test('links that were sent before still say the same', () => { // never edit these, only add
  const [choices] = address.read(records, '?model=llama-3.1-8b&hardware=l40s&weights=bf16&batch=8').columns;
  assert.deepEqual(choices, {...defaults, model: 'llama-3.1-8b', hardware: 'l40s', weights: 'bf16', batch: 8});
  const {columns} = address.read(records, '?tp=8&ep=1&unit=GiB&vs=batch-128*hardware-b200-sxm&vs=');
  const first = {...defaults, tp: 8, ep: 1, unit: 'GiB'};
  assert.deepEqual(columns, [first, {...first, batch: 128, hardware: 'b200-sxm'}, first]);
});

test('a link that was sent before there were predictions has the same bounds, and may ask for them alone', () => {
  const [plain] = address.read(records, '?batch=8').columns, [alone] = address.read(records, '?batch=8&engine=').columns;
  assert.equal(plain.engine, 'vllm');
  assert.equal(alone.engine, '');
  assert.deepEqual(trip([alone]), {columns: [alone], notice: ''});
  const [both, one] = [plain, alone].map(choices => answer.rows(records, [answer.answered(records, choices)], 'GB'));
  assert.deepEqual(both.filter(({kind}) => kind !== 'predicted'), one);
  assert.ok(both.length > one.length);
});

test('a model of one\'s own travels in the address', () => {
  const model = {name: 'your own model', native: 'bf16', context: 131072, given: records.models['llama-3.1-8b'].given};
  const own = address.withOwn(records, model), columns = [{...defaults, model: 'own', weights: 'bf16'}];
  const back = address.read(records, `?${address.write(own, columns)}`);
  assert.deepEqual(back, {records: own, columns, notice: ''});
  const both = [own, records].map((known, n) => answer.answered(known, {...columns[0], model: n ? 'llama-3.1-8b' : 'own'}).values.itl);
  assert.equal(both[0], both[1]);
  assert.equal(records.models.own, undefined);
});

test('a model in the address that is none is ignored', () => {
  for (const text of ['', 'x', 'native-bf16', 'native-bf16*hidden_size-1*__proto__-1', 'native-int1*hidden_size-1', 'native-bf16*hidden_size--1', `native-bf16*hidden_size-${'9'.repeat(16)}`]) {
    const {columns, notice} = read(`?model=own&own=${encodeURIComponent(text)}`);
    assert.deepEqual(columns, [defaults], text);
    assert.match(notice, /^Ignored in the address of this page: .*“own” describes no model\.$/);
  }
});

test('a value that cannot be is ignored, and one sentence says so', () => {
  const hostile = {
    model: ['<img src=x onerror=alert(1)>', '../../etc/passwd', '__proto__', 'constructor', ''],
    hardware: ['toString', 'h200-sxm\u0000', '%'],
    weights: ['kv-fp8', 'fp8,fp8', 'hasOwnProperty'],
    activations: ['gguf-q4-k'],
    kv: ['fp8'],
    batch: ['0', '-1', '1e9', '1.5', 'NaN', 'Infinity', '0x10', '1'.repeat(400), '١٢', ' ', '[object Object]'],
    isl: ['1000000001'],
    tp: ['eight'],
    grid: ['mars'],
    provider: ['javascript:alert(1)'],
    price: ['-1', 'free', '1e3', '1'.repeat(300)],
    pue: ['0.5', '101'],
    arithmetic: ['0', '101'],
    bandwidth: ['-0'],
    unit: ['bytes', 'MB'],
  };
  for (const [name, texts] of Object.entries(hostile)) {
    for (const text of texts) {
      const {columns, notice} = address.read(records, `?${new URLSearchParams({[name]: text})}`);
      assert.deepEqual(columns, [defaults], `${name}=${text}`);
      assert.match(notice, /^Ignored in the address of this page: .*\.$/s, `${name}=${text}`);
      assert.ok(notice.length < 200, notice);
    }
  }
});

test('a broken column, a strange name and too many columns do no harm', () => {
  const search = '?vs=%25E0%25A4%25A&vs=batch&vs=batch-9*__proto__-1*batch-10&constructor=1&__proto__=2&utm_source=x' + '&vs=batch-2'.repeat(50);
  const {columns, notice} = address.read(records, search);
  assert.equal(columns.length, address.MOST);
  assert.match(notice, /at most 6 columns stand beside each other, so the last 48 are left out\.$/); // 53 beside the first
  assert.equal(columns[3].batch, 9);
  assert.equal({}.batch, undefined);
  for (const one of columns) assert.deepEqual(Object.keys(one), Object.keys(defaults));
});

// Answers ------------------------------------------------------------------------------------------------

test('memory by hand: Llama-3.1-8B in bf16, batch 32, 2,048 tokens', () => {
  const {values, runs} = answered(small);
  // 8.03 billion weights of 2 bytes; 32 layers x 8 heads x 2 x 128 elements of 2 bytes a token
  assert.equal(values.weight_bytes_device, 2 * 8030261248);
  assert.equal(values.kv_bytes_device, 2048 * 32 * 8 * 2 * 128 * 2);
  const {weights, cache, free, kept, over} = answer.memory(values);
  assert.equal(weights + cache + free + kept, values.memory_capacity);
  assert.ok(runs && over === 0);
});

test('what is stated in place of a record counts', () => {
  const plain = answered(small), own = answered({...small, price: 3.6, pue: 2, intensity: 360, bandwidth: 50});
  assert.equal(own.values.price, 0.001);
  assert.equal(own.values.t_memory_decode, 2 * plain.values.t_memory_decode);
  assert.equal(own.values.carbon_at_limit, own.values.energy_at_limit * 2 * 360 / 3.6e6);
});

test('every preset that is not called too large runs', () => {
  for (const [title, choices] of presets) assert.equal(answered(choices).runs, !title.startsWith('Too large'), title);
});

test('activations that go with the weights are a format for activations', () => {
  for (const id of records.roles.weights) assert.ok(records.roles.activations.includes(scenario.activationsFor(records, id)), id);
});

test('every change that is offered lets it run', () => {
  const refused = [
    {hardware: 'a100-80gb-sxm', weights: 'bf16'}, {...small, batch: 100000}, {...small, isl: 200000},
    {...small, tp: 3}, {hardware: 'h100-sxm', weights: 'nvfp4'}, {...small, hardware: 'l40s', isl: 120000, batch: 2},
    {...small, hardware: 'l4', tp: 2}, {model: 'llama-3.1-405b', hardware: 'h100-sxm', tp: 8, weights: 'bf16'},
  ];
  for (const some of refused) {
    const choices = {...defaults, ...some}, found = change.changes(records, choices);
    assert.equal(answered(some).runs, false, JSON.stringify(some));
    assert.ok(found.length > 0, JSON.stringify(some));
    for (const {says, set} of found) assert.ok(answer.answered(records, {...choices, ...set}).runs, `${JSON.stringify(some)}: ${says}`);
  }
});

test('two changes are offered where neither is enough, and more devices than a domain has are named', () => {
  const raw = {...defaults, hardware: 'h100-sxm', weights: 'bf16'}, found = change.changes(records, raw);
  const pair = found.find(({says}) => says === 'weights in fp8 and on 8 × H200 SXM 141 GB');
  assert.ok(pair, found.map(({says}) => says).join('; '));
  const {weights, activations, ...card} = pair.set;
  for (const some of [{weights, activations}, card]) assert.ok(!answer.answered(records, {...raw, ...some}).runs);
  // 671e9 parameters in fp8 and 32 caches: 89.8 GB on each of 8, so 16 devices of 77.3 GB do
  assert.match(change.beyond(records, {...raw, weights: 'fp8'}), /^16 of this device \(TP 8, EP 16\), 2 scale-up domains of 8, would hold it/);
  assert.match(change.beyond(records, {...raw, model: 'llama-3.1-405b'}), /^16 of this device \(TP 16, EP 1\)/);
});

test('a context too short for both is shared by prompt and answer', () => {
  const found = change.changes(records, {...defaults, model: 'gpt2', weights: 'bf16'});
  assert.deepEqual(found.map(({set}) => set), [{isl: 512, osl: 512}]);
});

test('a prompt of the whole context is shortened, and what is then still too much is said with it', () => {
  const raw = {...defaults, isl: 163840, osl: 1024}, found = change.changes(records, raw);
  assert.ok(found.some(({says, set}) => set.isl === 162816 && set.batch >= 1 && says.startsWith('162,816 tokens in: all that the context leaves, and batch ')), JSON.stringify(found));
  for (const {says, set} of found) assert.ok(answer.answered(records, {...raw, ...set}).runs, says);
  assert.equal(new Set(found.map(({says}) => says)).size, found.length);
});

test('the largest batch and the longest prompt that are offered cannot be exceeded', () => {
  const choices = {...defaults, ...small, tp: 1, batch: 4000}, found = change.changes(records, choices);
  const {batch} = found.find(({set}) => set.batch).set;
  assert.ok(!answer.answered(records, {...choices, batch: batch + 1}).runs);
  const {isl} = found.find(({set}) => set.isl)?.set ?? {};
  if (isl) assert.ok(!answer.answered(records, {...choices, isl: isl + 1}).runs);
});

test('the bound that wins is the larger, and communication is named where it is more', () => {
  const values = {t_math_decode: 1, t_memory_decode: 2, t_comm_decode: 0, t_math_prefill: 2, t_memory_prefill: 1, t_comm_prefill: 3};
  assert.equal(answer.winner(values, 'decode'), 'memory');
  assert.equal(answer.winner(values, 'prefill'), 'communication, then arithmetic');
  assert.equal(answer.winner({...values, t_math_decode: NaN}, 'decode'), '–');
});

test('a missing fact is named and nothing stands for it', () => {
  const one = answered(small); // the energy of an H100 was not measured
  const row = answer.rows(records, [one], 'GB').find(({key}) => key === 'energy_per_token');
  assert.equal(row.cells[0].text, '–');
  assert.match(row.cells[0].note, /energy of one byte from memory/);
});

test('only what the model uses is said to be missing', () => {
  const brief = some => answer.rows(records, [answered(some)], 'GB').find(({key}) => key === 'energy_per_token').cells[0].note;
  const dense = brief({model: 'llama-3.1-8b', hardware: 'b200-sxm', weights: 'bf16'}), mixed = brief({hardware: 'b200-sxm'});
  assert.ok(!dense.includes('experts') && dense.includes('FLOP of the'), dense);
  assert.ok(mixed.includes('routed experts'), mixed);
});

test('where none fits, the largest batch is 0 and says what is lacking', () => {
  const one = answered({hardware: 'h100-sxm'}), {cells: [most]} = answer.rows(records, [one], 'GB').find(({key}) => key === 'largest_batch');
  const lacks = one.values.weight_bytes_device + one.values.kv_bytes_device - one.values.memory_available;
  assert.equal(most.text, '0');
  assert.equal(most.brief, `${words.bytes(lacks, 'GB')} are lacking on each device for one sequence`);
});

test('the first token of a request has a bound and a prediction of its own', () => {
  const list = answer.rows(records, [answered({})], 'GB'), of = key => list.find(row => row.key === key).cells[0].value;
  assert.ok(of('ttft_request') < of('ttft_predicted') && of('ttft_predicted') < of('ttft'));
  assert.equal(of('ttft_request'), answered({batch: 1, tp: 8, ep: 8}).values.ttft * 1e3);
});

test('the operators add up to the bounds of their phase, and each says what sets it', () => {
  for (const some of [{}, small, {tp: 2, ep: 8}, {model: 'qwen3-235b-a22b', hardware: 'b200-sxm', weights: 'nvfp4', batch: 256}]) {
    const {values} = answered(some);
    for (const phase of ['prefill', 'decode']) {
      const rows = operators.operatorRows(records, values, phase);
      for (const part of ['math', 'memory', 'comm']) {
        const sum = rows.reduce((all, row) => all + row.parts[part], 0), whole = values[`t_${part}_${phase}`];
        assert.ok(Math.abs(sum - whole) <= 1e-12 * whole, `${JSON.stringify(some)} ${part} ${phase}`);
      }
      for (const {parts, wins} of rows) assert.equal(parts[wins], Math.max(...Object.values(parts)));
    }
  }
  const names = operators.operatorRows(records, answered(small).values, 'decode').map(({name}) => name);
  assert.deepEqual(names, ['matrices of all layers', 'attention, its cache and its state', 'LM head']); // dense, one device
});

// Columns ------------------------------------------------------------------------------------------------

const beside = (...others) => {
  const first = {...defaults, ...small}, columns = [first, ...others.map(some => ({...first, ...some}))];
  return {columns, answers: reason.compared(records, columns.map(one => answer.answered(records, one)))};
};

test('a column is called by what differs', () => {
  const {columns} = beside({batch: 64}, {hardware: 'l40s', pue: 1.5}, {engine: ''}, {});
  assert.deepEqual(column.named(records, columns), ['H100 SXM5 80 GB, batch 32, PUE as recorded', 'batch 64', 'L40S, PUE 1.5', 'derived alone', 'the same']);
});

test('a difference has its reason: what moves the result most when it is exchanged alone', () => {
  const {answers: [, card, batch, grid, wide]} = beside({hardware: 'l40s'}, {batch: 64}, {grid: 'fra'}, {kv: 'kv-fp8', isl: 4096, batch: 64});
  assert.equal(card.reasons.itl, 'memory-bound: memory bandwidth 864 against 3,350 GB/s'); // the L40S has no fewer devices
  assert.match(card.reasons.ttft, /^arithmetic-bound: peak arithmetic 362 against 989 TFLOP\/s$/);
  assert.match(card.reasons.itl_predicted, /^memory bandwidth 864 against 3,350 GB\/s/);
  assert.equal(batch.reasons.cost_per_token, 'batch 64 against 32');
  assert.match(grid.reasons.carbon_at_limit, /^grid [\d.]+ against [\d.]+ g\/kWh$/);
  assert.equal(grid.reasons.itl, undefined);
  assert.equal(beside({tp: 2}).answers[1].reasons.memory_needed, '2 devices against 1');
  assert.match(wide.reasons.ttft, /^arithmetic-bound: prompt 4,096 against 1,024 tokens; batch 64 against 32$/);
});

test('every difference that is shown has a reason', () => {
  const {answers} = beside({hardware: 'mi300x'}, {model: 'qwen3-30b-a3b'}, {weights: 'fp8', tp: 4}, {provider: 'Lambda', hardware: 'h200-sxm', osl: 64});
  for (const row of answer.rows(records, answers, 'GB')) {
    for (const {apart, reason: said} of row.cells.slice(1)) if (apart && !apart.startsWith('±')) assert.ok(said?.length > 5, `${row.key} ${apart}`);
  }
});

test('at a share of a peak nothing is called a bound, in any form', () => {
  const some = [{...small, bandwidth: 30}, {...small, arithmetic: 30, bandwidth: 100}].map(answered);
  for (const one of some) {
    const row = answer.rows(records, [one], 'GB').find(({key}) => key === 'itl');
    assert.deepEqual([row.kind, row.cells[0].kind], ['at the shares stated', 'at the shares stated']);
    assert.doesNotMatch(forms.markdown(records, [one], 'GB', link).replace('no bound at stated shares', ''), /\bbounds?\b/i);
    for (const form of [forms.csv, forms.json]) assert.doesNotMatch(form(records, [one], 'GB', link), /\bbounds?\b/i);
  }
  const full = answered({...small, arithmetic: 100}), both = [full, some[0]], of = (list, key) => answer.rows(records, list, 'GB').find(row => row.key === key);
  assert.equal(of([full], 'itl').kind, 'bound');
  assert.equal(of(both, 'itl').kind, 'bound or at the shares stated');
  assert.equal(of(both, 'energy_at_limit').kind, 'estimate');
  const {configurations} = JSON.parse(forms.json(records, both, 'GB', link));
  assert.deepEqual(configurations.map(({results}) => results.itl.kind), ['bound', 'at the shares stated']);
});

test('nothing paid and nothing emitted is taken as stated, and is a reason', () => {
  const {columns: [free], notice} = read('?price=0&intensity=0');
  assert.equal(notice, '');
  assert.deepEqual([free.price, free.intensity], [0, 0]);
  const one = answered({...small, price: 0, intensity: 0}), list = answer.rows(records, [one], 'GB');
  for (const key of ['cost_per_token', 'cost_per_token_predicted', 'carbon_at_limit']) assert.equal(list.find(row => row.key === key).cells[0].text, '0', key);
  assert.equal(JSON.parse(forms.json(records, [one], 'GB', link)).configurations[0].results.cost_per_token.value, 0);
  assert.match(forms.markdown(records, [one], 'GB', link), /own price 0 USD\/h, own intensity 0 gCO2e\/kWh/);
  assert.match(forms.inferecon(one.choices), /# without your own price, intensity: /);
  const {answers: [, now]} = beside({price: 0, intensity: 0});
  assert.match(now.reasons.cost_per_token, /^price 0 against [\d.]+ USD\/h$/);
  assert.match(now.reasons.carbon_at_limit, /^grid 0 against [\d.]+ g\/kWh$/);
});

// To take away ------------------------------------------------------------------------------------------

const both = [answered({}), answered({...small, hardware: 'h200-sxm', provider: 'AWS p5en.48xlarge (127.89/8)'})];
const link = 'https://example.org/calculator.html?a=1&b=2';

test('Markdown has the rows, the edition and the link', () => {
  const text = forms.markdown(records, both, 'GB', link), rows = answer.rows(records, both, 'GB');
  const lines = text.split('\n').filter(line => line.startsWith('| ') && !/^\| (quantity|phase)/.test(line));
  assert.equal(lines.filter(line => !/^\| (prefill|decode step) /.test(line)).length, rows.length);
  assert.ok(text.includes('| decode step | routed experts |'));
  assert.ok(text.includes(records.edition) && text.includes(link));
});

test('CSV has as many fields in every line', () => {
  const lines = forms.csv(records, both, 'GiB', link).trim().split('\r\n');
  const fields = line => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).filter((part, n, all) => part || n < all.length - 1).length;
  for (const line of lines.slice(0, -3)) assert.equal(fields(line), 6, line);
  assert.ok(lines.some(line => line.includes('needed on each device,GiB')));
});

test('JSON has choices, results with units, and null for what is missing', () => {
  const {configurations, edition} = JSON.parse(forms.json(records, [...both, answered(small)], 'GB', link));
  assert.equal(edition, records.edition);
  assert.equal(configurations[0].choices.tp, 8);
  assert.equal(configurations[0].results.itl.unit, 'ms');
  assert.equal(configurations[2].results.energy_per_token.value, null);
  assert.equal(configurations[0].operators.decode['routed experts'].set_by, 'memory');
  assert.equal(configurations[0].results.cost_per_token.kind, 'bound');
});

test('a command holds whatever a provider is called', () => {
  assert.match(forms.inferecon(both[1].choices), / -p provider='AWS p5en\.48xlarge \(127\.89\/8\)'/);
  assert.match(forms.papermill({...both[1].choices, provider: "a'b"}), / -p provider 'a'\\''b'/);
  assert.match(forms.papermill({...both[0].choices, pue: 1.5}), /# without your own pue/);
  assert.match(forms.commands({...both[0].choices, model: 'own'}), /^mkdir .* inferecon model config\.json own > my-data\/models\/own\.yaml\nINFERECON_DATA=my-data papermill /);
});

// A card of one's own --------------------------------------------------------------------------------------

const h100 = {memory: '80', unit: 'GiB', bandwidth: '3350', bf16: '989.5', fp8: '1979', power: '700', link: '450', joined: '8', price: '2.5'};
const withCard = texts => address.withOwn(records, null, card.carded(texts)[0]);

test('a card that states what a record states gives what the record gives', () => {
  const device = records.hardware['h100-sxm'], {peaks, domain} = device, {hbm_bandwidth: bandwidth, memory_capacity: memory, board_power: power, link_bandwidth: link} = device.given;
  const texts = {memory: memory / 1e9, bandwidth: bandwidth / 1e9, bf16: peaks.bf16 / 1e12, fp8: peaks.fp8 / 1e12, power, link: link / 1e9, joined: domain};
  const own = withCard(Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, String(value)])));
  const [mine, theirs] = [[own, 'own'], [records, 'h100-sxm']].map(([known, hardware]) => answer.answered(known, {...defaults, model: 'llama-3.1-70b', hardware}));
  for (const symbol of ['itl', 'ttft', 'energy_at_limit', 'largest_batch', 'n_devices']) assert.equal(mine.values[symbol], theirs.values[symbol], symbol);
});

test('a card travels in the address, with its price', () => {
  const own = withCard(h100), columns = [{...defaults, hardware: 'own'}], query = address.write(own, columns);
  assert.match(query, /card=memory-80GiB/);
  const back = address.read(records, `?${query}`);
  assert.deepEqual({columns: back.columns, notice: back.notice}, {columns, notice: ''});
  assert.deepEqual(back.records.hardware.own, own.hardware.own);
  assert.equal(back.records.hardware.own.given.memory_capacity, 80 * 2 ** 30);
  const {values} = answer.answered(own, {...defaults, hardware: 'own'});
  assert.equal(values.price, 2.5 / 3600);
  assert.equal(records.hardware.own, undefined);
});

test('a card that is none is ignored, and a field that is wrong is named', () => {
  for (const text of ['', 'x', 'memory-80', 'memory-80GiB', 'memory-80TB*bandwidth-1*bf16-1', 'memory-80GB*bandwidth-1*bf16-1*__proto__-1', 'memory-80GB*bandwidth-NaN*bf16-1', 'memory-80GB*bandwidth-1e3*bf16-1', 'memory-0GB*bandwidth-1*bf16-1', `memory-80GB*bandwidth-${'9'.repeat(20)}*bf16-1`, 'memory-80GB*bandwidth-1..0*bf16-1']) {
    const {columns, notice} = read(`?hardware=own&card=${encodeURIComponent(text)}`);
    assert.deepEqual(columns, [defaults], text);
    assert.match(notice, /“card” describes no card\.$/);
  }
  assert.equal(card.carded({})[1], 'a card needs its memory');
  assert.equal(card.carded({...h100, bf16: 'fast'})[1], 'peak in bf16 must be a number from 0.01 to 1000000 TFLOP/s');
  assert.equal(card.carded({...h100, joined: '1.5'})[1], 'cards joined by links must be a whole number from 1 to 1024');
  assert.equal(card.carded({...h100, link: ''})[1], 'links need both their bandwidth and how many cards they join');
});

test('a small number is written in plain decimals, and comes back; so do links that had it otherwise', () => {
  for (const [value, text] of [[1e-7, '0.0000001'], [1.25e-7, '0.000000125'], [5e-324, `0.${'0'.repeat(323)}5`], [0.5, '0.5'], [1e6, '1000000']]) assert.equal(texts.decimal(value), text);
  const columns = [{...defaults, price: 1e-7}, {...defaults, price: 1.5e-8}], query = address.write(records, columns);
  assert.equal(query, 'price=0.0000001&vs=price-0.000000015');
  assert.deepEqual(trip(columns), {columns, notice: ''});
  assert.deepEqual(read('?price=1e-7').columns, [columns[0]]);
  assert.deepEqual(column.named(records, columns), ['price 0.0000001 USD/h', 'price 0.000000015 USD/h']);
  const own = withCard({...h100, price: '0.0000001'}), packed = card.packedCard(own.hardware.own);
  assert.match(packed, /price-0\.0000001$/);
  for (const text of [packed, packed.replace('0.0000001', '1e-7')]) assert.deepEqual(card.unpackedCard(text), own.hardware.own);
  assert.match(forms.commands({...answered({}).choices, hardware: 'own'}, own), /price: 0\.0000001 USD\/h/);
  assert.match(forms.markdown(own, [answer.answered(own, {...defaults, hardware: 'own', price: 1e-7})], 'GB', link), /own price 0\.0000001 USD\/h/);
});

test('every form of an answer says that a card has no source', () => {
  const own = withCard(h100), one = answer.answered(own, {...defaults, hardware: 'own'});
  assert.match(forms.markdown(own, [one], 'GB', link), /own card \(unsourced\): memory 80 GiB, memory bandwidth 3350 GB\/s, /);
  assert.match(JSON.parse(forms.json(own, [one], 'GB', link)).configurations[0].own_card, /^unsourced: memory 80 GiB/);
  assert.match(forms.commands(one.choices, own), /source: \[unsourced\][^]*\nINFERECON_DATA=my-data inferecon run /);
});

test('the picture of memory has every part, and its limit where it does not fit', () => {
  const fits = svg.asText(bar.barPicture(answered(small).values, 'GiB', 'a <title>'));
  assert.ok(fits.startsWith('<svg xmlns="http://www.w3.org/2000/svg"') && fits.includes('a &lt;title&gt;') && fits.includes('KV cache: ') && !fits.includes('does not fit'));
  assert.ok(svg.asText(bar.barPicture(answered({...small, batch: 4000, tp: 1}).values, 'GB', '')).includes('does not fit: '));
});
