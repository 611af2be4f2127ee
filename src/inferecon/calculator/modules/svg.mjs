// A drawing as a tree, [tag, attributes, ...children]: text for a file, elements for the page.

const SPACE = 'http://www.w3.org/2000/svg';
const ESCAPED = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'};
const escaped = text => String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').replace(/[&<>"]/g, letter => ESCAPED[letter]);
const present = attributes => Object.entries(attributes).filter(([, value]) => value != null);

export function asText([tag, attributes, ...children]) {
  const own = present(tag === 'svg' ? {xmlns: SPACE, ...attributes} : attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`).join('');
  return `<${tag}${own}>${children.map(child => (Array.isArray(child) ? asText(child) : escaped(child))).join('')}</${tag}>`;
}

export function asElement([tag, attributes, ...children]) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of present(attributes)) made.setAttribute(name, value);
  made.append(...children.map(child => (Array.isArray(child) ? asElement(child) : String(child))));
  return made;
}

// The drawing as PNG, twice as fine as the page.
export async function asPng(tree) {
  const [, {width, height}] = tree, image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(asText(tree))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), {width: 2 * width, height: 2 * height});
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise(done => canvas.toBlob(done, 'image/png'));
}

// Text in lines of at most so many pixels; a letter is about half as wide as it is high.
export function wrapped(text, width, size = 12) {
  const lines = [''], most = Math.max(8, Math.floor(width / (size * 0.54)));
  for (const word of text.split(' ')) {
    if (lines.at(-1) && lines.at(-1).length + word.length >= most) lines.push(word);
    else lines[lines.length - 1] += (lines.at(-1) && ' ') + word;
  }
  return lines;
}
