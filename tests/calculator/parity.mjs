// Compute scenarios as the page does: node parity.mjs MODULES DATA OUT
import {readFileSync, writeFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

const [, , modules, data, out] = process.argv;
const {computed} = await import(pathToFileURL(`${modules}/together.mjs`));
const {records, cases, symbols} = JSON.parse(readFileSync(data, 'utf8'));
const {said, values} = computed(records, cases, symbols);
writeFileSync(`${out}.json`, JSON.stringify(said));
writeFileSync(out, Buffer.from(values.buffer));
