// Repairs of the theme's markup for keyboards and screen readers; the page works without them.
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
  // A box that scrolls must be reachable by keyboard.  It is asked when it is laid out: to ask all
  // at once would lay out what nobody scrolled to.
  const sized = new ResizeObserver(boxes => boxes.forEach(({target}) => {
    if (target.scrollWidth > target.clientWidth + 1) target.tabIndex = 0;
  }));
  each('.cell_output .output, div.math .katex-display, .vl-chart, pre', e => sized.observe(e));
})();
