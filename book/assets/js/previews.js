// What a term or a law says, beside its link: on hover and on keyboard focus, gone with Escape.
// A finger follows the link, as without this script.
(() => {
  const data = document.getElementById('previews');
  if (!data) return;
  const texts = JSON.parse(data.textContent);
  const box = document.createElement('div');
  box.id = 'preview-box';
  box.hidden = true;
  box.setAttribute('role', 'tooltip');
  document.body.append(box);
  let shown = null, timer = 0;

  function place(link) {
    const edge = 8, at = link.getClientRects()[0] ?? link.getBoundingClientRect();
    const room = document.documentElement.clientWidth - box.offsetWidth - edge;
    const below = at.bottom + box.offsetHeight + edge <= innerHeight || at.top < box.offsetHeight;
    box.style.left = `${scrollX + Math.max(edge, Math.min(at.left, room))}px`;
    box.style.top = `${scrollY + (below ? at.bottom + 2 : at.top - box.offsetHeight - 2)}px`;
  }

  function show(link) {
    hide();
    if (!link.isConnected) return;
    box.innerHTML = texts[anchor(link)]; // the build wrote it, nothing of it comes from a reader
    box.hidden = false;
    shown = link;
    link.setAttribute('aria-describedby', box.id);
    place(link);
  }

  function hide() {
    clearTimeout(timer);
    box.hidden = true;
    shown?.removeAttribute('aria-describedby');
    shown = null;
  }

  function anchor(link) {
    return decodeURIComponent(link.hash.slice(1));
  }

  // asked of the page as a whole, since scripts of a page write links later, and write them anew
  const main = document.querySelector('article') ?? document.body;
  const linked = target => {
    const link = target?.closest?.('a.reference[href*="#"], a[href*="#law-"], a[href*="#row-"]');
    return link && Object.hasOwn(texts, anchor(link)) ? link : null;
  };
  main.addEventListener('pointerover', event => {
    const link = linked(event.target);
    if (shown && !shown.isConnected) hide();
    if (!link || event.pointerType === 'touch' || link.contains(event.relatedTarget)) return;
    clearTimeout(timer);
    timer = setTimeout(show, 250, link);
  });
  main.addEventListener('pointerout', event => {
    const link = linked(event.target);
    if (!link || link.contains(event.relatedTarget)) return;
    clearTimeout(timer);
    timer = setTimeout(hide, 250);
  });
  main.addEventListener('focusin', event => {
    const link = linked(event.target);
    if (link?.matches(':focus-visible')) show(link);
  });
  main.addEventListener('focusout', event => { if (linked(event.target)) hide(); });
  // a reader may move onto the box, to read on or to copy
  box.addEventListener('pointerenter', () => clearTimeout(timer));
  box.addEventListener('pointerleave', () => { timer = setTimeout(hide, 250); });
  document.addEventListener('keydown', event => { if (event.key === 'Escape') hide(); });
})();
