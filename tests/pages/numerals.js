// Every numeral of a page's text that opens no box, with where it stands; what needs none is named
// here.  `names` are those of the models and devices on record, many of which have numerals.
names => {
  // Elements whose numerals are explained by what they are, or are no figures of this report.
  const APART = [
    'a',                                          // a link leads to what it names
    'code, pre, kbd',                             // inputs, commands, identifiers
    '.katex, .law, .derivation, details.more',    // a formula or a worked example: its own explanation
    'svg, .vl-chart',                             // axes; the numbers are in the table beside the chart
    'h1, h2, h3, h4, h5, summary, figcaption, thead, th', // names
    'form, label, select, output, button',        // what a reader chose
    '.cite, .sources, .bibliography, dl.citation, .headerlink', // citations
    '.quoted',                                    // words of a source document
    'script, style, template, noscript, [hidden]',
  ].join(', ');
  // Sections of arithmetic by hand, each step of which is shown.
  const BY_HAND = /^problems|worked-out|^worked/;
  // Columns of words: names, meanings, and where a source says it.
  const WORDS = /^(meaning|place|name|source|where|how|status|licence|why|date|year|the document|here|quantity|measurement|symbol|unit|)$/;
  // Words that make a numeral a name or an input: dates, versions, places, batches and lengths.
  const NAMED = [
    /\b\d{4}-\d\d(-\d\d)?\b/g,
    /\b(sec|pp?|ch|theorem|table|fig|figure|eq|line|step|document|section|chapter|page|edition|version|scope|issue|file|license)s?\.? \d[\d.-]*( to \d+|, \d+)*(?=[\s.,;:)]|$)/gi,
    /\b(vLLM|SGLang|TensorRT-LLM|PCIe|Python|ROCm|CUDA|CC BY|License|inferecon|edition) v?\d+(\.\d+)*/g,
    /\bbatch(es)? (of )?\d[\d,]*/gi,
    /\b\d[\d,]* (prompt|answer|tokens?|requests?|devices?|sequences|out)\b/g,
    /\b\d[\d,]* (at a time|in a hundred)\b/g,
    /\b(50|90|95|99|100) %/g,
  ];
  const NUMERAL = /(?<![\w.\-–−/@*^])\d[\d,]*(?:\.\d+)?(?![\w/*^]|-[A-Za-z]|[.,]\d)/g;
  const plain = names.map(name => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const called = new RegExp(`(?<!\\w)(?:${plain.join('|')})(?!\\w)`, 'g'); // the longest first
  const figures = text => [called, ...NAMED].reduce((rest, one) => rest.replace(one, ''), text).match(NUMERAL) ?? [];
  const alone = [];
  const article = document.querySelector('article');
  const walk = article && document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  while (walk?.nextNode()) {
    const {data, parentElement: parent} = walk.currentNode;
    if (!/\d/.test(data) || parent.closest(APART) || BY_HAND.test(parent.closest('section[id]')?.id)) continue;
    const cell = parent.closest('td'), row = parent.closest('tr');
    // a row's button tells all of its cells
    if (row?.querySelector('a.num:not([data-number])')) continue;
    if (cell && (cell === row.cells[0] || WORDS.test(cell.closest('table').tHead?.rows[0].cells[cell.cellIndex]?.textContent.trim() ?? ' '))) continue;
    const found = figures(data);
    if (found.length) alone.push(`${parent.closest('section[id]')?.id ?? ''}: ${found.join(' ')} in ${data.trim().replace(/\s+/g, ' ').slice(0, 120)}`);
  }
  return alone;
}
