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

  const main = document.querySelector('article') ?? document.body;
  for (const link of main.querySelectorAll('a.reference[href*="#"], a[href*="#law-"]')) {
    if (!Object.hasOwn(texts, anchor(link))) continue;
    link.addEventListener('pointerenter', event => {
      if (event.pointerType === 'touch') return;
      clearTimeout(timer);
      timer = setTimeout(show, 250, link);
    });
    link.addEventListener('pointerleave', () => { clearTimeout(timer); timer = setTimeout(hide, 250); });
    link.addEventListener('focus', () => { if (link.matches(':focus-visible')) show(link); });
    link.addEventListener('blur', hide);
  }
  // a reader may move onto the box, to read on or to copy
  box.addEventListener('pointerenter', () => clearTimeout(timer));
  box.addEventListener('pointerleave', () => { timer = setTimeout(hide, 250); });
  document.addEventListener('keydown', event => { if (event.key === 'Escape') hide(); });
})();
