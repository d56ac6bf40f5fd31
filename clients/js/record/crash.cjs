// An error that nobody catches ends the program, and Node shows the line it came from: as it was loaded, so with our probes in
// it, and where a frame of ours let it pass. So that line is shown here, from the file, and the process ended as Node would.
// Whatever is not plain (a thrown text, a worker, options that watch for crashes) is left to Node.
'use strict';

const { apply } = Reflect;
const fs = require('node:fs');
const { fileURLToPath } = require('node:url');
const { inspect } = require('node:util');
const { isNativeError } = require('node:util').types;
const { isMainThread } = require('node:worker_threads');
const texts = require('./texts.cjs');

const WATCHED = /--(abort-on-uncaught|report-|trace-uncaught|enable-source-maps|inspect)/;

function watch(end, thrown) {
  const before = process._fatalException;
  if (!isMainThread || typeof before !== 'function') return;
  if (WATCHED.test([...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' '))) return;
  process._fatalException = function fatalException(error, fromPromise) {
    const handled = apply(before, this, [error, fromPromise]);
    if (handled) return handled;
    let text = null;
    try {
      text = crash(error, fromPromise ? null : thrown());
    } catch {
      // Node shows it in its own way.
    }
    if (text === null) return handled;
    try {
      fs.writeSync(2, text);
    } catch {
      // Nobody reads it.
    }
    const code = process.exitCode ?? 1;
    end(code);
    return process.reallyExit(code);
  };
}

function crash(error, last) {
  if (!isNativeError(error) || typeof error.stack !== 'string') return null;
  const at = last !== null && last.error === error && last.file !== undefined ? last : top(error.stack);
  if (at === null) return null;
  // Where nothing of ours is, Node's own words are right.
  const lines = source(at.file)?.split(/\r\n|[\n\r]/);
  const here = at === last ? at : thrownBelow(lines, at);
  const line = lines?.[here.line - 1];
  if (line === undefined) return null;
  const under = line.slice(0, here.column - 1).replace(/[^\t]/g, ' ');
  return `${at.shown ?? at.file}:${here.line}\n${line}\n${under}^\n\n${inspect(error, { colors: process.stderr.hasColors?.() ?? false })}\n\nNode.js ${process.version}\n`;
}

// `const err = new Error(…)` is where the stack begins; the `throw err` behind it is what Node shows.
function thrownBelow(lines, at) {
  const name = /(?:const|let|var)\s+(\w+)\s*=\s*new\b/.exec(lines?.[at.line - 1] ?? '')?.[1];
  for (let n = at.line; name !== undefined && n < Math.min(lines.length, at.line + 8); n += 1) {
    const column = lines[n].indexOf(`throw ${name};`);
    if (column >= 0) return { line: n + 1, column: column + 1 };
  }
  return at;
}

// The first frame of a stack, as it is shown: `at f (file:1:2)`.
function top(stack) {
  const found = /^ {4}at (?:.*\()?((?:file:\/\/|node:|\/|[A-Za-z]:\\).*?):(\d+):(\d+)\)?$/m.exec(stack);
  if (found === null) return null;
  const [, shown, line, column] = found;
  const file = shown.startsWith('file:') ? fileURLToPath(shown) : shown;
  return { file, shown, line: Number(line), column: Number(column) };
}

function source(file) {
  const about = texts.files.get(file);
  if (about !== undefined && about.source !== undefined) return about.source;
  if (file.startsWith('node:')) return process.binding('natives')[file.slice(5)];
  return fs.readFileSync(file, 'utf8');
}

// The same where a debugger is there and only some texts have something of ours in them: the others are left to Node.
function watchWoven() {
  const before = process._fatalException;
  if (!isMainThread || typeof before !== 'function') return;
  process._fatalException = function fatalException(error, fromPromise) {
    const handled = apply(before, this, [error, fromPromise]);
    if (handled) return handled;
    try {
      const at = isNativeError(error) && typeof error.stack === 'string' ? top(error.stack) : null;
      const text = at !== null && texts.files.has(at.file) ? crash(error, null) : null;
      if (text === null) return handled;
      fs.writeSync(2, text);
    } catch {
      return handled;
    }
    return process.reallyExit(process.exitCode ?? 1);
  };
}

module.exports = { watch, watchWoven };
