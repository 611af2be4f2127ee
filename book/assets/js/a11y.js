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
  // A box that is left by Tab is done with: it closes, and the focus stays where it went.
  document.addEventListener('focusin', ({target}) => each('[popover]:popover-open', box => {
    if (!box.contains(target)) box.hidePopover();
  }));
})();
