// Figures that have no ids of their own: a row of a table has one button, a sentence one for each
// run of its figures.  Their address is made of the section and the first words of the row.
(() => {
  // a number that stands alone; the 3 of H3, of -3-, of v0.3 and of 3D is a part of a name
  const NUMERAL = /(?<![\w.\-–−/@])\d[\d,]*(?:\.\d+)?(?![\w/]|-[A-Za-z]|[.,]\d)/g;
  const UNIT = /^(?: |\u00a0)?(?:%|×|(?:[kMGTPmµunp]i?)?(?:B|W|Wh|J|s|FLOPS?|FLOP|tok|token|USD|g|L|m|Hz)(?:\/\w+)*)(?!\w)/; // it belongs to the figure before it
  const slug = text => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');

  // what an element says: of a formula its source, which stands in it beside the picture
  function text(element) {
    if (!element.querySelector('.katex')) return element.textContent.trim();
    const copied = element.cloneNode(true);
    copied.querySelectorAll('.katex').forEach(math => math.replaceWith(math.querySelector('annotation')?.textContent ?? ''));
    return copied.textContent.trim();
  }
  // what stands in a cell, or in the button that a cell became
  function copies(element) {
    const copied = element.cloneNode(true);
    copied.querySelectorAll('a.num').forEach(number => number.replaceWith(...number.childNodes));
    return [...copied.childNodes];
  }
  const title = section => text(section.querySelector('h1, h2, h3, h4')).replace(/[#¶]$/, '');

  globalThis.rowBoxes = (data, make, link) => {
    const {kinds, tables, sources} = data.rows;

    // what Python says of a place: by its own word, the head of its first column, its section, or the page
    function toldOf(element) {
      const head = element.tHead?.rows[0].cells[0].textContent.trim(), keys = [element.dataset.kind, head && `head ${head}`];
      for (let e = element.closest('section[id]'); e; e = e.parentElement.closest('section[id]')) keys.push(e.id);
      if (element.closest('.vl-numbers')) keys.push('chart');
      return kinds[tables[[...keys, ''].find(key => key in tables)]];
    }

    // the claim that a place belongs to, and what Python says of its checks
    const claimed = at => at.closest('.claim')?.id.replace('claim-', '') ?? '';
    const stands = part => Array.isArray(part) ? link(...part) : part;

    function entry(at, said, cells, {name, more = {}, source = null}) {
      const section = at.closest('section[id]'), id = `${data.page}#${at.id}`;
      const gaps = {ROW: name, CLAIM: claimed(at) || name, PAGE: data.page, SECTION: section.id};
      const filled = text => text.replace(/\b(ROW|CLAIM|PAGE|SECTION)\b/g, gap => gaps[gap]);
      const commands = said.commands.map(filled);
      return {
        id, name: id, shape: 'row', shown: name, says: said.says, how: said.how, whole: '', bounds: [], inputs: [], pages: [],
        law: more.law ?? said.law, place: more.place ?? said.place, equation: '', sympy: '', holds: '',
        cells: [['Of', title(section)], ...cells, ...(more.lines ?? []).map(([name, text]) => [name, stands(text)])],
        read: source ? [[text(source), sources[text(source)] ?? '', '']] : [],
        details: said.at && {Place: filled(said.at)},
        commands, source: source ? text(source) : commands[0],
        url: `${data.page}.html#${at.id}`, key: slug(`inferecon-row-${id}`),
        value: cells.map(([head, ...parts]) => `${[head].flat().map(words).join('')} ${parts.map(words).join('')}`.trim()).join('; ').replace(/\s+/g, ' '),
      };
    }
    const words = part => part.nodeType === 1 ? text(part) : part.textContent ?? part;

    // a row: what its cells say, under the heads of the columns
    function ofRow(at) {
      const tr = at.closest('tr'), table = tr.closest('table'), heads = [...table.tHead.rows[0].cells];
      const cells = [...tr.cells].map((cell, i) => [heads[i], cell]).filter(([head, cell]) => head && text(cell));
      const source = cells.find(([head]) => text(head) === 'source')?.[1];
      const others = cells.filter(([, cell]) => cell !== tr.cells[0] && cell !== source);
      const name = text(tr.cells[0]) || text(at), more = data.rows.more[at.closest('.claim')?.id]?.[tr.sectionRowIndex];
      return {...entry(at, toldOf(table), others.map(([head, cell]) => [copies(head), ...copies(cell)]), {name, more, source}), title: copies(tr.cells[0])};
    }

    // a run of figures in a sentence: the sentence in full
    function ofWords(at) {
      const whole = at.closest('.figures'), more = data.rows.more[at.closest('.claim')?.id]?.at(-1);
      const said = entry(at, toldOf(whole), [['In full', ...copies(whole)]], {name: whole.dataset.name ?? text(at), more});
      return {...said, shown: text(at)};
    }

    // One button a row, not one a cell: thousands of stops would bar the way of the keyboard.
    function rows(table) {
      const heads = [...table.tHead?.rows[0]?.cells ?? []].map(head => head.textContent.trim()), mixed = table.querySelector('a.num');
      if (!heads.length || !table.closest('section[id]') || !toldOf(table)) return [];
      // where some figures have boxes of their own, a row needs one only for the others
      const figure = (cell, i) => mixed ? /^\d/.test(cell.textContent.trim()) && !cell.querySelector('a.num') && !/^(date|year)$/.test(heads[i]) : /\d/.test(cell.textContent);
      return [...table.tBodies].flatMap(body => [...body.rows]).flatMap(tr => {
        const cells = [...tr.cells];
        // what has a link cannot be a button, and a formula alone does not name one
        const cell = cells.find(one => one.textContent.trim() && !one.querySelector('a, button, input, .katex'));
        if (!cell || !cells.some((one, i) => one !== cell && figure(one, i))) return [];
        const inner = cell.children.length === 1 && cell.querySelector(':scope > p') || cell;
        const at = make('a', {className: 'num'}, ...inner.childNodes);
        inner.append(at);
        return [[at, cells.map(text)]];
      });
    }

    // from the first figure of a piece of text to its last
    function runs(whole) {
      const walk = document.createTreeWalker(whole, NodeFilter.SHOW_TEXT), texts = [];
      while (walk.nextNode()) if (!walk.currentNode.parentElement.closest('a, code, .katex')) texts.push(walk.currentNode);
      return texts.flatMap(node => {
        const found = [...node.data.matchAll(NUMERAL)];
        if (!found.length) return [];
        const last = found.at(-1), end = last.index + last[0].length, unit = node.data.slice(end).match(UNIT)?.[0] ?? '';
        const part = node.splitText(found[0].index);
        part.splitText(end + unit.length - found[0].index);
        const at = make('a', {className: 'num'});
        part.replaceWith(at);
        at.append(part);
        return [[at, [whole.dataset.name ?? '', node.data.slice(-30), part.data]]];
      });
    }

    // The address of each: the fewest of its words that no other of its section begins with.
    function address(found) {
      const used = new Set(), place = at => claimed(at) || at.closest('section[id]').id;
      let open = found;
      for (let k = 1; open.length; k++) {
        const short = open.map(([at, words]) => slug(`row-${place(at)}-${words.slice(0, k).join('-').slice(0, 80)}`)), count = new Map();
        short.forEach(name => count.set(name, (count.get(name) ?? 0) + 1));
        open = open.filter(([at, words], i) => {
          const free = count.get(short[i]) === 1 && !used.has(short[i]);
          if (!free && k < words.length) return true;
          let name = short[i];
          for (let n = 2; used.has(name); n++) name = `${short[i]}-${n}`;
          used.add(name);
          at.id = name;
          return false;
        });
      }
    }

    const found = [...document.querySelectorAll('article table')].flatMap(rows);
    // what a notebook printed is told as the tables of its section
    document.querySelectorAll(':is(.cell_output, .told) :is(p, li)').forEach(one => {
      if (!one.closest('table, figure') && one.closest('section[id]') && toldOf(one) && !one.querySelector('p')) one.classList.add('figures');
    });
    found.push(...[...document.querySelectorAll('article .figures')].flatMap(runs));
    address(found);
    return at => at.closest('.figures') ? ofWords(at) : ofRow(at);
  };
})();
