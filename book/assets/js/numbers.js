// One box explains every published number of a page, from the data that the build put into it.
// Without this script a number is a link to its place.
(() => {
  // Citations: Python wrote each form with gaps, one private character a field; fill them.
  const FIELDS = ['id', 'says', 'of', 'equation', 'sympy', 'holds', 'source', 'value', 'how', 'url', 'key'];
  const same = text => text;
  const markdown = text => text.replace(/[\\`*_[\]<>$|]/g, '\\$&');
  const special = {'\\': '\\textbackslash{}', '~': '\\textasciitilde{}', '^': '\\textasciicircum{}'};
  const tex = text => text.replace(/[\\~^%_#&${}]/g, c => special[c] ?? '\\' + c);
  const json = text => JSON.stringify(text).slice(1, -1);
  const math = {equation: same, holds: same, key: same};
  const escapes = {
    markdown: field => ['says', 'of', 'source'].includes(field) ? markdown : same,
    latex: field => math[field] ?? tex,
    bibtex: field => math[field] ?? tex,
    json: () => json,
  };

  // all that is known of one number, in the words of the page
  function known(data, id) {
    const cut = id.lastIndexOf(':'), owner = id.slice(0, cut), symbol = id.slice(cut + 1);
    const [place, digits, exact, low, high] = data.numbers[owner][symbol];
    const kind = data.kinds[place], of = data.cases[owner];
    const [sources = [], details = {}] = data.details[owner]?.[symbol] ?? [];
    const read = sources.map(at => data.read[at]), fact = kind.shape === 'fact';
    const unit = value => `${value} ${kind.unit}`.trim();
    const shown = exact === null ? digits : unit(digits);
    return {
      ...kind, id, exact, shown, read, details,
      source: fact ? read.map(([what]) => what).join('; ') : kind.source,
      of: of.of, pages: of.pages, notebook: of.notebook,
      between: kind.known && `${low} to ${unit(high)}`,
      value: kind.claim ? `${shown}, ${kind.claim}` : kind.known ? `${shown}, 90 % interval ${low} to ${unit(high)}, ${kind.known}` : shown,
      whole: exact === null ? '' : unit(exact.toLocaleString('en-GB', {maximumSignificantDigits: 10})),
      ...behind(data.behind, owner, symbol, kind),
      ...(exact === null && !fact && {filled: '', mark: '', how: data.missing}),
      name: id, commands: [of.command.replace('SYMBOL', symbol)],
      url: `${of.page}.html#${anchor(id)}`,
      key: `inferecon-${fact ? 'fact' : 'number'}-${id}`.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/-$/, ''),
    };
  }

  // the values put in, the bounds that won, and the records, as the build found them
  function behind({values, won, beside, fits, constants, rows, inputs, sources, sets, of}, owner, symbol, {sympy}) {
    const [set, ...times] = of[owner]?.[symbol] ?? [], put = values[owner] ?? {}, fitted = fits[owner]?.[symbol] ?? [];
    const NAME = /[A-Za-z_]\w*(?![\w(])/g, right = sympy?.slice(sympy.indexOf(' = ') + 3) ?? '';
    const filled = right.replace(NAME, name => put[name] ?? name).replaceAll('**', '^').replaceAll('*', ' × ');
    return {
      // an equation that is filled in part would show names where a reader wants numbers
      filled: filled !== right && (right.match(NAME) ?? []).every(name => name in put || name === 'True') && filled,
      bounds: beside[owner]?.[symbol] ?? times.map(time => won[owner][time] && `${time}: ${won[owner][time]}`).filter(Boolean),
      inputs: (sets[set] ?? []).map(n => ({...inputs[n], sources: inputs[n].sources.map(at => sources[at])})),
      constants: fitted.slice(0, -1).map(n => constants[n]), rows: rows[fitted.at(-1)],
    };
  }

  const cited = (data, id, form) => written(data, known(data, id), form);
  function written(data, entry, form) {
    return data.forms[entry.shape][form].replace(/[\ue000-\ue00a]/g, gap => {
      const field = FIELDS[gap.charCodeAt(0) - 0xe000];
      return escapes[form](field)(entry[field]);
    });
  }

  // the address of a number within its page, as Python writes it
  function anchor(id) {
    const name = id.startsWith('data/') ? id.replace('data/', 'fact-') : `num-${id}`;
    return name.replace(/[^A-Za-z0-9_]+/g, '-');
  }

  globalThis.citedNumber = cited;
  if (typeof document === 'undefined') return; // a test in Node compares the texts with Python's
  if (!('popover' in HTMLElement.prototype)) return;

  const data = JSON.parse(document.getElementById('numbers-data').textContent);
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const link = (text, url) => make('a', {href: data.root + url, textContent: text});
  const copy = (text, label) => globalThis.copyButton(() => text, label);

  // the form, or the letter, at the foot of the page, for one number; a letter knows no + for a space
  function report({name, whole, shown}) {
    const url = new URL(document.querySelector('.report-number').href), asked = url.searchParams;
    const body = `${asked.get('body')}Number: ${name}\nValue: ${whole || shown}\n`;
    asked.set(asked.has('subject') ? 'subject' : 'title', `Wrong number ${name}`);
    asked.set('body', body);
    return [make('a', {href: url.href.replaceAll('+', '%20'), textContent: 'Report it'}), ' ', copy(body, 'Copy the report')];
  }

  // the equation as the build typeset it
  function equation(law) {
    const found = document.querySelector(`template[data-law="${CSS.escape(law)}"]`);
    return found ? [found.content.cloneNode(true)] : [];
  }

  function records(inputs) {
    const items = inputs.map(({name, at, says, sources}) => make('li', {}, link(name, at), says.length ? `: ${says.join('; ')}` : '',
      ...(sources.length ? [make('small', {textContent: `Source: ${sources.join('; ')}`})] : [])));
    return make('details', {className: 'inputs'}, make('summary', {textContent: `${inputs.length} records, each with its source`}), make('ul', {}, ...items));
  }

  // the constants of an engine that a prediction rests on, and the levels that make each up
  function fitted(constants) {
    const items = constants.map(([symbol, meaning, value, levels]) => make('li', {},
      make('code', {textContent: symbol}), ` ${meaning}: ${value}`, make('small', {textContent: `Fitted to: ${levels}`})));
    const summary = make('summary', {textContent: `${items.length} constants, each with the rows it was fitted to`});
    return make('details', {className: 'inputs'}, summary, make('ul', {}, ...items));
  }

  // each source of a recorded value in full; an address is followed only where it is one of the web
  function sources(read) {
    const items = read.map(([what, rest, url]) => {
      const named = /^https?:/.test(url) ? make('a', {href: url, textContent: what}) : what;
      return make('li', {}, named, rest ? `; ${rest}` : '');
    });
    return make('ul', {className: 'sources'}, ...items);
  }

  // Lines of the box, each a name and what stands beside it, or null; further ones go here.
  const lines = [
    number => number.of && ['Of', number.of],
    number => number.here && ['Here as', number.here],
    number => number.between && ['90 % interval', number.between],
    number => number.whole && ['In full', number.whole],
    number => number.symbol && ['Symbol', make('code', {textContent: number.symbol})],
    number => number.law && ['Law', link(number.law, number.place), ...equation(number.law)],
    number => number.filled && ['Put in', make('code', {textContent: `${number.filled} = ${number.shown}`})],
    number => number.bounds.length && ['Bound', ...number.bounds.flatMap((text, i) => [i ? '; ' : '', text])],
    number => number.inputs.length && ['Inputs', records(number.inputs)],
    number => number.constants?.length && ['Fitted', fitted(number.constants)],
    number => number.rows && ['Rows', number.rows],
    ...['Place', 'Printed', 'Kind', 'Date', 'Range', 'Why', 'Note', 'Others say'].map(name =>
      number => number.details?.[name] && [name, number.details[name]]),
    number => number.read.length && [number.read.length > 1 ? 'Sources' : 'Source', sources(number.read)],
    number => ['Known as', ...(number.mark ? [make('span', {className: 'known-mark', textContent: number.mark}), ' '] : []), number.how, ...(number.known ? ['; see ', link('calibration', 'calibration.html'),
      ', ', link('validation', 'reference/validation.html'), ', ',
      link('constants', 'reference/validation.html#constants')] : [])],
    number => number.pages.length && ['Pages', ...number.pages.flatMap(([text, url], i) => [i ? ', ' : '', link(text, url)])],
    number => number.notebook && ['Notebook', Object.assign(link('as it was executed', number.notebook), {download: ''})],
    number => ['ID', make('code', {textContent: number.id}), ' ',
      copy(new URL(data.root + number.url, location.href).href, 'Copy link')],
    number => ['Command', ...number.commands.map(command => make('div', {}, make('code', {textContent: command}), ' ', copy(command)))],
    number => ['Wrong?', ...report(number)],
  ];

  const names = {markdown: 'Markdown', latex: 'LaTeX', bibtex: 'BibTeX', json: 'JSON'};
  function citation(entry) {
    const forms = Object.keys(names).map(form => {
      const text = make('div', {className: 'form', tabIndex: 0, textContent: written(data, entry, form)});
      const part = make('details', {open: form === 'markdown'}, make('summary', {textContent: names[form]}),
        copy(text.textContent), text);
      part.setAttribute('name', 'number-cite');
      return part;
    });
    return make('details', {className: 'cite'}, make('summary', {textContent: 'Cite'}), ...forms);
  }

  const box = make('div', {id: 'number-box', popover: 'auto', tabIndex: -1});
  box.setAttribute('role', 'dialog');
  box.setAttribute('aria-labelledby', 'number-box-value');
  document.body.append(box);

  function fill(at) {
    const number = at.dataset.number ? {...known(data, at.dataset.number), here: at.dataset.here} : row(at);
    const close = make('button', {type: 'button', className: 'close', textContent: '×'});
    close.setAttribute('aria-label', 'Close');
    close.addEventListener('click', () => box.hidePopover());
    const list = make('dl');
    const add = ([name, ...parts]) => name && list.append(make('dt', {}, ...[name].flat()), make('dd', {}, ...parts));
    number.cells?.forEach(add);
    lines.forEach(line => add(line(number) || []));
    box.replaceChildren(
      make('div', {id: 'number-box-value'}, make('strong', {}, ...(number.title ?? [number.shown])), ' ' + number.says),
      close, list, citation(number));
  }

  // below the number, or above it where there is more room; a narrow screen has it at its foot
  function place(number) {
    box.style.cssText = '';
    const at = number.getBoundingClientRect();
    if (matchMedia('(max-width: 576px)').matches) {
      const hidden = at.bottom + 16 - box.getBoundingClientRect().top;
      if (hidden > 0) scrollBy({top: hidden, behavior: 'instant'});
      return;
    }
    const edge = 8, gap = 4, least = 256; // pixels; a box that is longer than its room scrolls in itself
    const under = innerHeight - at.bottom - gap - edge, over = at.top - gap - edge;
    const below = box.offsetHeight <= under || under >= over;
    box.style.maxHeight = `${Math.max(below ? under : over, least)}px`;
    const {offsetWidth: width, offsetHeight: height} = box;
    const room = document.documentElement.clientWidth - width - edge;
    box.style.left = `${scrollX + Math.max(edge, Math.min(at.left, room))}px`;
    box.style.top = `${scrollY + (below ? at.bottom + gap : at.top - height - gap)}px`;
  }

  let shown = null;
  function open(number) {
    if (box.matches(':popover-open')) box.hidePopover();
    fill(number);
    number.focus({preventScroll: true}); // where the focus returns when the box closes
    box.showPopover({source: number});
    number.setAttribute('aria-expanded', 'true');
    shown = number;
    place(number);
    box.focus({preventScroll: true});
  }
  box.addEventListener('beforetoggle', event => {
    if (event.newState === 'closed') shown?.setAttribute('aria-expanded', 'false');
  });
  addEventListener('resize', () => { if (box.matches(':popover-open')) place(shown); });

  // a number at its own place has but the name of it
  const at = new Map(Object.entries(data.numbers).flatMap(([owner, symbols]) =>
    Object.keys(symbols).map(symbol => [anchor(`${owner}:${symbol}`), `${owner}:${symbol}`])));
  document.querySelectorAll('a.num').forEach(number => { number.dataset.number ||= at.get(number.id); });
  const row = data.rows && globalThis.rowBoxes(data, make, link);
  document.querySelectorAll('a.num').forEach(number => {
    number.href ||= `#${number.id}`;
    number.setAttribute('role', 'button');
    number.setAttribute('aria-haspopup', 'dialog');
  });
  document.addEventListener('click', event => {
    const number = event.target.closest?.('a.num');
    if (!number || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(number);
  });
  document.addEventListener('keydown', event => {
    // the theme takes Escape for its search box alone, from the popover too
    if (event.key === 'Escape' && box.matches(':popover-open')) box.hidePopover();
    const number = event.target.closest?.('a.num');
    if (!number || event.key !== ' ') return;
    event.preventDefault();
    open(number);
  });

  // the part of an address behind its #; what nobody wrote so names nothing
  function named(part) {
    try { return decodeURIComponent(part); } catch { return ''; }
  }

  // a cited address opens the box, also where the number is folded away
  function reach() {
    const number = document.getElementById(named(location.hash.slice(1)));
    if (!number?.matches('a.num')) return;
    for (let e = number.closest('details'); e; e = e.parentElement.closest('details')) e.open = true;
    number.scrollIntoView({block: 'center', behavior: 'instant'});
    open(number);
  }
  addEventListener('hashchange', reach);
  addEventListener('load', reach);
})();
