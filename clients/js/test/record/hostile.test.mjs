// Programs that nobody would like to record: they go on as without, and the recording says what it lacks.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { shown, streams } from './decode.mjs';
import { plain, record } from './truth.mjs';

const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hp-hostile-')));
after(() => fs.rmSync(folder, { recursive: true, force: true }));
let count = 0;

function file(text) {
  count += 1;
  const made = path.join(folder, `h${count}.cjs`);
  fs.writeFileSync(made, text);
  return made;
}

// Runs it both ways; what it says and how it ends must not differ.
function both(text, more = {}) {
  const words = [...(more.options ?? []), file(text)];
  const as = plain(folder, words, more);
  const run = record(folder, words, more);
  assert.deepEqual([run.stdout, run.stderr, run.status], [as.stdout, as.stderr, as.status]);
  assert.notEqual(run.stdout, '', 'it says something, so that it is known to have come to its end');
  return streams(run.recording);
}

const named = (stream, name) => stream.calls.filter((call) => call.name === name);

describe('a hostile program', () => {
  test('a million turns of a loop', () => {
    const [stream] = both('function f() {\n  let t = 0;\n  for (let i = 0; i < 1000000; i++)\n    t += i;\n  return t;\n}\nconsole.log(f());');
    const [frame] = named(stream, 'f');
    const lines = frame.steps.filter(([what]) => what === 'line').length;
    const gaps = frame.steps.filter(([what]) => what === 'gap').reduce((sum, [, n]) => sum + n, 0);
    // What is not there is counted: more steps than there are lines, for writes are left out with them.
    assert.ok(gaps + lines >= 2_000_000, `${gaps} ${lines}`);
    // The last line is there, whatever was left out before it.
    assert.deepEqual(frame.steps.findLast(([what]) => what === 'line'), ['line', 5]);
    assert.deepEqual([frame.end, frame.result], ['return', 499999500000]);
  });

  test('ten thousand frames deep', () => {
    const more = { options: ['--stack-size=15000'], node: undefined };
    const text = 'function f(n) {\n  return n === 0 ? 0 : 1 + f(n - 1);\n}\nconsole.log(f(10000));';
    const made = [...more.options, file(text)];
    const shell = ['-c', `ulimit -s 65000; exec ${process.execPath} ${made.join(' ')}`];
    assert.equal(plain(folder, shell, { node: '/bin/bash' }).stdout, '10000\n');
    const run = record(folder, shell, { node: '/bin/bash' });
    assert.equal(run.stdout, '10000\n', run.stderr);
    const [stream] = streams(run.recording);
    assert.equal(named(stream, 'f').length, 10_001);
    assert.equal(named(stream, 'f')[0].result, 10_000);
  });

  test('values of a gigabyte', () => {
    const [stream] = both(`function f(x) {
  const y = x;
  return y.length ?? y.size ?? y.byteLength;
}
console.log(f(Buffer.alloc(1 << 30)), f('x'.repeat((1 << 29) - 100)), f(new ArrayBuffer(1 << 30)), f(new Array(1 << 26)), f(new Float64Array(1 << 26)));
const m = new Map(); for (let i = 0; i < 300000; i++) m.set(i, i);
console.log(f(m), f(new Set(m.keys())), String(f({ length: 2n ** 20000n })).length);`, { timeout: 240_000 });
    const seen = named(stream, 'f').map((call) => call.args[0]);
    assert.equal(seen.length, 8);
    // A text of that length is not looked into, and is said to be one that was not.
    assert.deepEqual([seen[0].length, seen[1].kind, seen[1].type], [1 << 30, 'outside', 'string']);
    assert.ok(seen.every((it) => shown(it).length < 2000));
  });

  test('many workers over time', () => {
    const text = `const { Worker, isMainThread, workerData } = require('node:worker_threads');
function work(n) { return n * 2; }
if (!isMainThread) work(workerData);
else (async () => {
  for (let round = 0; round < 8; round++)
    await Promise.all([0, 1, 2, 3, 4].map((n) => new Promise((done) => new Worker(__filename, { workerData: round * 5 + n }).on('exit', done))));
  console.log('done');
})();`;
    const found = both(text, { timeout: 240_000 });
    const results = found.flatMap((stream) => named(stream, 'work').map((call) => call.result)).sort((a, b) => a - b);
    assert.deepEqual(results, Array.from({ length: 40 }, (_, n) => n * 2));
    assert.equal(found.length, 41);
  });

  test('objects whose every trap and getter throws, or never returns', () => {
    const [stream] = both(`let hits = 0;
const traps = (what) => new Proxy({}, { get: (_, name) => (...given) => { hits += 1; return what(name, given); } });
const throws = () => { throw new Error('trap'); };
const blocks = () => { for (;;); };
class Getters {
  get a() { hits += 1; return blocks(); }
  get [Symbol.toStringTag]() { hits += 1; return blocks(); }
  get then() { hits += 1; return throws(); }
  toJSON() { hits += 1; return blocks(); }
  toString() { hits += 1; return blocks(); }
  [Symbol.toPrimitive]() { hits += 1; return blocks(); }
  [Symbol.for('nodejs.util.inspect.custom')]() { hits += 1; return blocks(); }
}
function take(v) { const w = v; return w; }
take(new Proxy({}, traps(throws))); take(new Proxy([], traps(blocks))); take(new Proxy(function () {}, traps(blocks)));
take(Object.create(new Proxy({}, traps(blocks)))); take(new Getters()); take(Object.defineProperty({}, 'x', { get: blocks, enumerable: true }));
class Odd extends Map { get size() { hits += 1; return blocks(); } [Symbol.iterator]() { hits += 1; return blocks(); } }
take(new Odd([[1, 2]]));
const typed = new Uint8Array(4); Object.defineProperty(typed, 'length', { get: blocks }); take(typed);
const error = new Error('e'); Object.defineProperty(error, 'stack', { get: blocks }); Object.defineProperty(error, 'message', { get: blocks }); take(error);
console.log(hits);`);
    assert.equal(named(stream, 'take').length, 9);
    assert.ok(named(stream, 'take').every((call) => call.end === 'return'));
  });

  test('code from texts: eval, Function, vm', () => {
    const [stream] = both(`const vm = require('node:vm');
function f(n) { return n; }
for (let i = 0; i < 300; i++) { eval('f(' + i + ')'); new Function('f', 'return f(' + i + ')')(f); }
(0, eval)('globalThis.made = 3');
console.log(eval('1 + 1; var q = 3; q'), vm.runInThisContext('made + 1'), vm.runInNewContext('x * 2', { x: 4 }), new vm.Script('made').runInThisContext());
console.log(vm.runInContext('[1, 2].map((it) => it + y)', vm.createContext({ y: 1 })).join());`);
    assert.deepEqual(named(stream, 'f').map((call) => call.result), Array.from({ length: 600 }, (_, n) => n >> 1));
  });

  test('builtins that are no longer what they were', () => {
    const [stream] = both(`const real = { push: Array.prototype.push, log: console.log.bind(console), slice: String.prototype.slice };
let hits = 0;
const evil = () => { hits += 1; throw new Error('evil'); };
const f = function f(n) { const a = { n, deep: [n, 'text'] }; a.n += 1; return a; };
function late(a, b) { let c = a; c += b; return c; }
f(0);
Array.prototype.push = evil; JSON.stringify = evil; Date.now = evil; Object.keys = evil; Object.getOwnPropertyNames = evil;
Object.getOwnPropertyDescriptor = evil; Object.getPrototypeOf = evil; Reflect.ownKeys = evil; Reflect.apply = evil; Array.isArray = evil;
Map.prototype.get = evil; Map.prototype.set = evil; WeakMap.prototype.get = evil; WeakMap.prototype.set = evil; Set.prototype.has = evil;
String.prototype.slice = evil; String.prototype.charCodeAt = evil; Array.prototype.map = evil; Array.prototype[Symbol.iterator] = evil;
Number.isInteger = evil; Math.floor = evil; Math.min = evil; performance.now = evil; process.hrtime = evil; Buffer.from = evil; Buffer.prototype.write = evil;
Uint8Array.prototype.set = evil; globalThis.Object = null; globalThis.Array = null; globalThis.Symbol = null;
Function.prototype.call = evil; Function.prototype.apply = evil;
for (let i = 1; i < 50; i++) f(i);
late('x', 'y');
process._rawDebug(hits);
process.exitCode = hits === 0 ? 0 : 9;
process.reallyExit(process.exitCode);`.replace(/process\._rawDebug\(hits\);/, "require('node:fs').writeSync(1, `${hits}`);"));
    const seen = named(stream, 'f');
    assert.equal(seen.length, 50);
    assert.ok(seen.every((call) => shown(call.result).includes('deep')));
    assert.deepEqual(named(stream, 'late').map((call) => call.result), ['xy']);
  });

  test('an inspector beside us', () => {
    const [stream] = both(`const { Session } = require('node:inspector');
const session = new Session(); session.connect();
let stops = 0;
session.on('Debugger.paused', () => { stops += 1; session.post('Debugger.stepOver'); });
session.post('Debugger.enable'); session.post('Profiler.enable'); session.post('Profiler.start');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
function f(n) { return n + 1; }
let sum = 0;
for (let i = 0; i < 100; i++) sum += f(i);
session.post('Profiler.takePreciseCoverage', (error, { result }) => {
  const counted = result.find((it) => it.url.endsWith(require('node:path').basename(__filename))).functions.find((it) => it.functionName === 'f');
  console.log(sum, counted.ranges[0].count);
});
session.post('Profiler.stop', (error, { profile }) => console.log(profile.nodes.length > 0));
session.post('Runtime.evaluate', { expression: '1 + 1' }, (error, { result }) => console.log(result.value));
session.disconnect();`);
    assert.equal(named(stream, 'f').length, 100);
  });

  test('a disk that is full in the middle', () => {
    const made = file("function f(n) {\n  return 'v' + n;\n}\nfor (let i = 0; i < 60000; i++) f(i);\nconsole.log('on');");
    const run = record(folder, ['-c', `ulimit -f 100; exec ${process.execPath} ${made}`], { node: '/bin/bash' });
    assert.deepEqual([run.stdout, run.stderr, run.status], ['on\n', '', 0]);
    const [stream] = streams(run.recording);
    assert.ok(named(stream, 'f').length > 500);
    assert.ok(stream.notes.some((note) => note.why === 'EFBIG'), JSON.stringify(stream.notes));
  });

  test('a folder that goes away', () => {
    const found = both(`const fs = require('node:fs'), path = require('node:path');
if (process.env.HOLDPOINT_RECORD) fs.rmSync(path.dirname(process.env.HOLDPOINT_RECORD), { recursive: true });
if (process.env.HOLDPOINT_RECORD) fs.mkdirSync(path.dirname(process.env.HOLDPOINT_RECORD));
function f(n) { return n; }
for (let i = 0; i < 50000; i++) f(i);
console.log('on');`);
    assert.ok(found.length <= 1);
  });

  test('a program that closes every file', () => {
    both(`const fs = require('node:fs');
function f(n) { return n; }
f(0);
for (const fd of fs.readdirSync('/proc/self/fd')) { try { if (fs.readlinkSync('/proc/self/fd/' + fd).endsWith('.hps')) fs.closeSync(Number(fd)); } catch {} }
const mine = fs.openSync(require('node:path').join(require('node:os').tmpdir(), 'hp-mine-' + process.pid), 'w+');
for (let i = 0; i < 50000; i++) f(i);
console.log(fs.fstatSync(mine).size);
fs.unlinkSync(require('node:path').join(require('node:os').tmpdir(), 'hp-mine-' + process.pid));`);
  });
});
