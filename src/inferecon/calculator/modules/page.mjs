// What the pages with a form share: elements, the clipboard, files to save.

// An element with attributes and children; a child that is text stays text.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, text] of Object.entries(attributes)) if (text != null && text !== false) made.setAttribute(name, text === true ? '' : text);
  made.append(...children.flat().filter(child => child != null && child !== ''));
  return made;
}

export async function copy(text, place) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // a page on disk may have no clipboard: select a field's text instead
    const area = element('textarea', {class: 'visually-hidden', 'aria-hidden': true, tabindex: -1});
    area.value = text;
    place.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

export function save(content, type, name) {
  const link = element('a', {href: URL.createObjectURL(new Blob([content], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A box that scrolls must be reached by keyboard, and one that does not must not.
export function reachable(box) {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute('tabindex');
}
