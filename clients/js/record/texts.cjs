// Instrumented texts: from the cache, which another run or the server has filled, else from the server's own program, which
// fills it. A text that cannot be had so is run as it is, and the recording says so.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { createHash } = require('node:crypto');
const { spawnSync } = require('node:child_process');
const { fileURLToPath } = require('node:url');

// As `VERSION` of `crates/instrument`.
const VERSION = 3;
const PATIENCE_MS = 20_000;

const { readFileSync, openSync, closeSync } = fs;
const state = { config: null, next: 1, shared: null, failed: 0, note: null, onUnknown: null, onRegister: null, onNames: null };
// By key and path: a test runner loads one file many times.
const loaded = new Map();
const rows = [];
const files = new Map();

function setup(config, note) {
  state.config = config;
  state.note = note;
}

// Whether the program's own code is there, as the recording has been told.
function wanted(file) {
  const { config } = state;
  if (typeof file !== 'string' || !path.isAbsolute(file)) return false;
  const under = config.roots.some((root) => file.startsWith(root) && (file.length === root.length || root.endsWith(path.sep) || file[root.length] === path.sep));
  if (!under) return false;
  for (const part of file.split(path.sep)) if (config.exclude.has(part)) return false;
  return true;
}

// The text with its probes, or null. `goal`: module, commonjs, script.
function text(source, file, goal, typescript) {
  if (!wanted(file) || source.length === 0) return null;
  const jsx = typescript ? file.endsWith('.tsx') : true;
  const hash = createHash('sha256').update(source, 'utf8').digest();
  const key = `${hash.toString('hex')}-${goal[0]}${typescript ? 't' : ''}${jsx ? 'x' : ''}`;
  const before = loaded.get(`${key} ${file}`);
  if (before !== undefined) return before === null ? null : before.text;
  const answer = cached(key) ?? asked(key, source, goal, typescript, jsx);
  const made = answer === null ? null : parse(answer, source, file, hash, goal);
  loaded.set(`${key} ${file}`, made);
  return made === null ? null : made.text;
}

function cached(key) {
  try {
    return readFileSync(path.join(state.config.cache, `v${VERSION}`, key), 'utf8');
  } catch {
    return null;
  }
}

function asked(key, source, goal, typescript, jsx) {
  const { config } = state;
  if (config.instrument === null) state.failed += 1;
  if (config.instrument === null && state.failed === 1) state.note?.({ lost: 1, why: 'not instrumented: nobody to ask' });
  if (config.instrument === null || state.failed > 2) return null;
  const request = { cache: config.cache, key, goal, typescript, jsx, exclude: [...config.exclude], warm: first() ? config.roots : [] };
  const done = spawnSync(config.instrument, ['instrument'], {
    input: `${JSON.stringify(request)}\n${source}`,
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: PATIENCE_MS,
    windowsHide: true,
    env: {},
  });
  const answer = cached(key);
  if (answer === null) {
    state.failed += 1;
    state.note?.({ lost: 1, why: `not instrumented: ${done.error?.code ?? done.signal ?? `exit ${done.status}`}` });
  }
  return answer;
}

// One process of the recording has all files of the project instrumented at once.
function first() {
  try {
    closeSync(openSync(path.join(state.config.folder, 'warmed'), 'wx', 0o600));
    return true;
  } catch {
    return false;
  }
}

function parse(answer, source, file, hash, goal) {
  const one = answer.indexOf('\n');
  const two = answer.indexOf('\n', one + 1);
  let table;
  try {
    table = JSON.parse(answer.slice(0, one));
  } catch {
    return null;
  }
  if (table.refused !== undefined) {
    // What is no CommonJS may be a module, which is asked for next.
    if (table.refused !== 'taken' && !(table.refused === 'syntax' && goal === 'commonjs')) state.note?.({ lost: 1, why: `not instrumented: ${table.refused}`, file });
    return null;
  }
  const about = { file, source, places: answer.slice(one + 1, two), made: null, pieces: null };
  const { path: shown, sha } = origin(table, file, hash);
  const base = register(table.functions, { path: shown, sha });
  about.made = answer.slice(two + 1).replace(/\$hp\$(\d+)/g, (mark, n) => String(base + Number(n)).padEnd(mark.length));
  about.base = base;
  about.count = table.functions.length;
  files.set(file, about);
  for (let at = 0; at < table.functions.length; at += 1) state.onNames?.(table.functions[at][6]);
  state.onRegister?.({ base, functions: table.functions, file: { path: shown, sha }, about });
  return { text: about.made, base, count: table.functions.length };
}

// What a text with a map was made from; else the file itself.
function origin(table, file, hash) {
  if (table.source === null || table.source === undefined) return { path: file, sha: hash };
  let shown = table.source;
  try {
    shown = shown.startsWith('file:') ? fileURLToPath(shown) : path.resolve(path.dirname(file), shown);
    return { path: shown, sha: createHash('sha256').update(readFileSync(shown)).digest() };
  } catch {
    return { path: file, sha: null };
  }
}

// Numbers for the functions of a text, in this process.
function register(functions, file) {
  const base = state.shared === null ? state.next : Atomics.add(state.shared, 0, functions.length);
  state.next += functions.length;
  place(base, functions, file);
  return base;
}

function place(base, functions, file) {
  for (let at = 0; at < functions.length; at += 1) {
    const [name, qualified, firstLine, last, flags, parameters, slots, test] = functions[at];
    rows[base + at] = { name, qualified, first: firstLine, last, flags, parameters, slots, test, from: file };
  }
}

function row(id) {
  if (rows[id] === undefined && state.onUnknown !== null) state.onUnknown();
  return rows[id];
}

module.exports = { setup, text, wanted, row, place, files, state, VERSION };
