// Writes the tables of `record/secrets.cjs` from the engine's `rules.rs`, the one place where they are decided.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCE = new URL('../../../../crates/engine/src/secrets/rules.rs', import.meta.url);
export const TARGET = new URL('../../record/secrets.cjs', import.meta.url);
const NAMES = ['SECRET', 'SECRET_TOGETHER', 'SECRET_WHOLE', 'PERHAPS', 'ABOUT', 'ASKED', 'OF_ANOTHER_TRADE', 'BEGINNINGS'];

export function made() {
  const source = fs.readFileSync(SOURCE, 'utf8').replace(/\/\/[^\n]*/g, '');
  const tables = { STEMS: [...new Set([...source.slice(0, source.indexOf('const SECRET')).matchAll(/"([a-z]+)"/g)].map((it) => it[1]))].sort() };
  for (const name of NAMES) {
    const body = new RegExp(`const ${name}: [^=]*= &\\[(.*?)\\];`, 's').exec(source)[1];
    const texts = (part) => [...part.matchAll(/"([^"]+)"/g)].map((it) => it[1]);
    if (name === 'BEGINNINGS') tables[name] = [...body.matchAll(/\("([^"]+)", (\d+)\)/g)].map((it) => [it[1], Number(it[2])]);
    else if (name === 'SECRET_TOGETHER') tables[name] = [...body.matchAll(/&\[(.*?)\]/gs)].map((row) => texts(row[1]).join(' '));
    else tables[name] = texts(body);
  }
  const lines = Object.entries(tables).map(([name, rows]) => `  ${name}: ${wrapped(rows)},`);
  const whole = fs.readFileSync(TARGET, 'utf8');
  const [before, rest] = whole.split('const RULES = {\n');
  return `${before}const RULES = {\n${lines.join('\n')}\n};\n${rest.slice(rest.indexOf('\n};\n') + 4)}`;
}

function wrapped(rows) {
  const out = ['['];
  let line = '   ';
  for (const row of rows) {
    const text = ` ${JSON.stringify(row).replaceAll('"', "'")},`;
    if (line.length + text.length > 130) {
      out.push(line);
      line = '   ';
    }
    line += text;
  }
  return [...out, line, '  ]'].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) fs.writeFileSync(TARGET, made());
