// Text as other programs read it: a shell, CSV, Markdown, BibTeX.

export const quoted = text => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
export const field = text => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
export const line = text => String(text).replace(/\s+/g, ' ').replaceAll('|', '\\|');
// A number in plain decimals, to the last digit: what a field, an address and a record take.
export const decimal = value => String(value).replace(/^(\d)(?:\.(\d+))?e-(\d+)$/, (_, unit, rest, places) => `0.${'0'.repeat(places - 1)}${unit}${rest ?? ''}`);
// A spreadsheet computes a text that begins so.
export const harmless = text => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

const SPECIAL = {'\\': '\\textbackslash{}', '~': '\\textasciitilde{}', '^': '\\textasciicircum{}'};
const tex = text => text.replace(/[\\~^%_#&${}]/g, letter => SPECIAL[letter] ?? `\\${letter}`);

// A citation of this view: the build left a gap where its address belongs.
export const cited = (template, link) => template.replaceAll('\ue000', () => tex(link));
