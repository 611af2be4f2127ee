// What each operator takes, as the page has it: node pace.mjs MODULES ASKED
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

const [, , modules, asked] = process.argv;
const [{byOperator}, {solve}] = await Promise.all(['operators', 'scenario'].map(name => import(pathToFileURL(`${modules}/${name}.mjs`))));
const {records, cases} = JSON.parse(readFileSync(asked, 'utf8'));
console.log(JSON.stringify(cases.map(choices => byOperator(records, solve(records, choices)))));
