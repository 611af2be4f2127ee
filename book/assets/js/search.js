// The page of the search: asks Pagefind, writes what it found, keeps the question in the address.
(async () => {
  const place = document.getElementById('search'), form = place.querySelector('form');
  const field = form.elements.q, list = place.querySelector('ol'), hint = place.querySelector('.search-hint'), status = place.querySelector('[role=status]');
  const SHOWN = 10, WITHIN = 3;
  if (location.protocol === 'file:') {
    // from a folder the browser forbids a page to read files
    status.innerHTML = 'Search needs a local server: run <code>python -m http.server</code> in the folder of this page and open <code>http://localhost:8000/search.html</code>.';
    return;
  }
  // at once: what is typed while the index is on its way stays in the field
  field.value = new URLSearchParams(location.search).get('q') ?? '';
  form.hidden = false;
  field.focus();
  const pagefind = await import(new URL(place.dataset.index, location.href));
  // a chapter is long and says its words often: neither may count against it, nor much for it
  await pagefind.options({excerptLength: 25, ranking: {pageLength: 0.1, termFrequency: 0.3}});
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const link = (title, url) => make('a', {href: url, textContent: title});
  const plain = title => title.replaceAll('-', ' '); // as the index has a title, so that its pieces are found
  // an excerpt is text with the words that were found in <mark>; Pagefind escapes the rest
  const excerpt = html => make('p', {innerHTML: html});

  // Of a word that no page has Pagefind takes off letters until some word begins so, if only by one.
  // A page answers if it has what half of each word begins with: a slip of the pen leaves that.
  const beginnings = asked => asked.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean).map(word => word.slice(0, word.length > 3 ? Math.max(3, Math.ceil(word.length / 2)) : 3));
  function answers(page, asked) {
    const text = `${page.meta.title} ${page.content}`.toLowerCase();
    return beginnings(asked).every(beginning => text.includes(beginning));
  }

  // Pagefind counts words wherever they stand; a title or a heading that says all that was asked
  // is about it, and weighs more than the same words apart.  A title that says most of it is about
  // it as well: the other words are what is asked of that model or that device.
  const TITLE = 2, HEADING = 1.5, PART = 1.5;
  const apart = text => ` ${text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean).join(' ')} `;
  function weight({result, page}, asked) {
    const says = text => apart(text).includes(apart(asked)), words = apart(asked).trim().split(' ');
    const named = words.filter(word => apart(page.meta.title).includes(` ${word} `)).length / words.length;
    const about = says(page.meta.title) ? TITLE : page.anchors.some(({text}) => says(text)) ? HEADING : 1 + PART * named ** 2;
    return result.score * about;
  }

  function item(page) {
    const below = page.sub_results.filter(part => part.url !== page.url && plain(part.title) !== plain(page.meta.title));
    const parts = below.slice(0, WITHIN).map(part => make('li', {}, link(part.title, part.url)));
    const head = make('h2', {}, link(page.meta.title, page.url));
    return make('li', {}, head, excerpt(page.excerpt), ...(parts.length ? [make('ul', {}, ...parts)] : []));
  }

  async function show() {
    const asked = field.value.trim(), address = new URL(location.href);
    if (asked) address.searchParams.set('q', asked); else address.searchParams.delete('q');
    history.replaceState(null, '', address);
    const found = asked ? await pagefind.debouncedSearch(asked, {}, 150) : {results: []};
    if (found === null) return; // a later question is on its way
    const loaded = await Promise.all(found.results.slice(0, SHOWN).map(async result => ({result, page: await result.data()})));
    if (field.value.trim() !== asked) return;
    loaded.sort((one, other) => weight(other, asked) - weight(one, asked));
    const pages = loaded.map(({page}) => page).filter(page => answers(page, asked));
    list.replaceChildren(...pages.map(item));
    const count = pages.length && found.results.length - loaded.length + pages.length, first = count > SHOWN ? `, the first ${SHOWN} shown` : '';
    hint.hidden = Boolean(asked);
    status.textContent = !asked ? '' : count ? `${count} ${count === 1 ? 'page' : 'pages'}${first}` : `Nothing found for “${asked}”`;
    place.dataset.answered = asked;
  }

  form.addEventListener('submit', event => { event.preventDefault(); show(); });
  field.addEventListener('input', show);
  show();
})();
