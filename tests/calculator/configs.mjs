// Read files as the page does: node configs.mjs MODULES ASKED
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

const [, , modules, asked] = process.argv;
const {packed, parsed, storedIn, unpacked} = await import(pathToFileURL(`${modules}/config.mjs`));
const {texts, records} = JSON.parse(readFileSync(asked, 'utf8'));
const found = texts.map(parsed);
const again = found.filter(([, wrong]) => !wrong).map(([model]) => unpacked(records, packed(model)));
const stored = texts.filter((_, n) => !found[n][1]).map(storedIn);
console.log(JSON.stringify({parsed: found, again, stored}));
