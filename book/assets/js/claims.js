// Filter the claims of a page by verdict and topic; the choice is kept in the page's address.
// Without this script every claim is there; it only hides.
(() => {
  const place = document.querySelector('.claim-filter');
  const claims = [...document.querySelectorAll('.claim')];
  if (!place || !claims.length) return;
  const filters = ['verdict', 'topic'];
  const classes = (claim, name) =>
    [...claim.classList].filter(c => c.startsWith(name + '-')).map(c => c.slice(name.length + 1));
  const names = Object.fromEntries(claims.map(claim =>
    [classes(claim, 'verdict')[0], claim.querySelector('.verdict')?.textContent]));

  const form = document.createElement('form');
  form.setAttribute('aria-label', 'Filter claims');
  const selects = {};
  for (const name of filters) {
    const label = document.createElement('label');
    const select = selects[name] = document.createElement('select');
    select.append(new Option('all', ''));
    for (const value of [...new Set(claims.flatMap(c => classes(c, name)))].sort()) {
      select.append(new Option((name === 'verdict' && names[value]) || value, value));
    }
    label.append(name + ' ', select);
    form.append(label);
  }
  const reset = document.createElement('button');
  reset.type = 'reset';
  reset.textContent = 'show all';
  const count = document.createElement('output');
  form.append(reset, count);
  place.append(form);

  function show() {
    for (const claim of claims) {
      claim.hidden = filters.some(name =>
        selects[name].value && !classes(claim, name).includes(selects[name].value));
    }
    // a heading with nothing left below it goes too
    for (const section of document.querySelectorAll('section section')) {
      const below = [...section.querySelectorAll('.claim')];
      if (below.length) section.hidden = below.every(claim => claim.hidden);
    }
    count.textContent = `${claims.filter(claim => !claim.hidden).length} of ${claims.length} claims`;
  }

  function remember() {
    const query = new URLSearchParams(location.search);
    for (const name of filters) {
      if (selects[name].value) query.set(name, selects[name].value); else query.delete(name);
    }
    const tail = String(query) ? '?' + query : '';
    history.replaceState(null, '', location.pathname + tail + location.hash);
  }

  function recall() {
    const query = new URLSearchParams(location.search);
    for (const name of filters) {
      const value = query.get(name) ?? '';
      selects[name].value = [...selects[name].options].some(o => o.value === value) ? value : '';
    }
    show();
  }

  // a link to one claim shows it whatever the filter says
  function reach() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest('[hidden]')) return;
    for (const name of filters) selects[name].value = '';
    show();
    remember();
    target.scrollIntoView();
  }

  form.addEventListener('change', () => { show(); remember(); });
  form.addEventListener('reset', () => setTimeout(() => { show(); remember(); }));
  form.addEventListener('submit', event => event.preventDefault());
  addEventListener('hashchange', reach);
  recall();
  reach();
})();
