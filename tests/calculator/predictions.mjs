// Predict as the page does: node predictions.mjs MODULES ASKED
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

const [, , modules, asked] = process.argv;
const {predicted} = await import(pathToFileURL(`${modules}/prediction.mjs`));
const {records, cases} = JSON.parse(readFileSync(asked, 'utf8'));
console.log(JSON.stringify(cases.map(choices => predicted(records, choices, 'vllm'))));
