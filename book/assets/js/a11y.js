// Repairs of the theme for keyboards, screen readers and long pages; the page works without them.
(() => {
  const each = (selector, act) => document.querySelectorAll(selector).forEach(act);
  // the visible text names the control, so a different label on top of it misleads
  each('.search-button-field, details.hide > summary', e => e.removeAttribute('aria-label'));
  each('.theme-switch-button', e => {
    e.removeAttribute('aria-label');
    e.querySelectorAll('svg, i, span').forEach(x => x.setAttribute('aria-hidden', 'true'));
    e.insertAdjacentHTML('beforeend', '<span class="visually-hidden">Color mode</span>');
  });
  each('.bd-sidebar-primary', e => { e.setAttribute('role', 'complementary'); e.setAttribute('aria-label', 'Book'); });
  each('.citation[role=doc-biblioentry]', e => e.setAttribute('role', 'listitem'));
  each('.bd-article thead th', e => { if (!e.textContent.trim()) e.outerHTML = '<td></td>'; });
  // A box that scrolls must be reachable by keyboard, and show at which edge there is more; one that
  // does not scroll is no stop.  It is asked when it is laid out: to ask all at once would lay out
  // what nobody scrolled to.
  const BOXES = '.table-box, .cell_output .output, div.math .katex-display, .vl-chart, pre';
  function edges(box) {
    // paper does not scroll, and the screen comes back; of what is not laid out nobody knows the width
    const skipped = getComputedStyle(box).contentVisibility === 'auto' && !box.firstElementChild.checkVisibility({contentVisibilityAuto: true});
    if (skipped || matchMedia('print').matches) return;
    const beyond = box.scrollWidth - box.clientWidth;
    if (beyond > 1) box.tabIndex = 0; else box.removeAttribute('tabindex');
    box.classList.toggle('more-before', beyond > 1 && box.scrollLeft > 1);
    box.classList.toggle('more-after', beyond > 1 && box.scrollLeft < beyond - 1);
  }
  const sized = new ResizeObserver(boxes => boxes.forEach(({target}) => edges(target.closest(BOXES))));
  each(BOXES, e => [e, ...(e.matches('.table-box') ? e.children : [])].forEach(one => sized.observe(one)));
  document.addEventListener('scroll', ({target}) => { if (target.matches?.(BOXES)) edges(target); }, {capture: true, passive: true});
  // A table of hundreds of numbers is hundreds of stops: the first one leads past them.
  const MANY = 20;
  const skips = () => each('.bd-article .table-box', box => {
    if (box.closest('.calculator') || box.querySelectorAll('a[href], button').length < MANY) return;
    const skip = document.createElement('button'), end = document.createElement('span');
    Object.assign(skip, {type: 'button', className: 'skip-table', textContent: 'Skip this table'});
    end.tabIndex = -1;
    skip.addEventListener('click', () => end.focus());
    box.before(skip);
    box.after(end);
  });
  addEventListener('load', () => (globalThis.requestIdleCallback ?? setTimeout)(skips)); // first the page
  // In the list of headings beside a page, the one that is being read is marked, and those above it.
  // The observer is told by the browser: the theme's own script looks for a list that this theme has not,
  // and asks for the place of every section, which lays out a long page twice before it is ready.
  const links = [...document.querySelectorAll('.page-toc a.nav-link[href^="#"]')], shown = new Set();
  const section = link => document.getElementById(decodeURIComponent(link.hash.slice(1)));
  const reading = new IntersectionObserver(told => {
    told.forEach(({target, isIntersecting}) => shown[isIntersecting ? 'add' : 'delete'](target));
    const now = links.findLast(link => shown.has(section(link)));
    if (now) links.forEach(link => link.classList.toggle('active', link.parentElement.contains(now)));
  }, {rootMargin: '0px 0px -60%'});
  links.map(section).filter(Boolean).forEach(one => reading.observe(one));
  // A box that is left by Tab is done with: it closes, and the focus stays where it went.
  document.addEventListener('focusin', ({target}) => each('[popover]:popover-open', box => {
    if (!box.contains(target)) box.hidePopover();
  }));
})();
