// The Node recorder, whole: programs are recorded by a server's own `holdpoint instrument`, and their streams read by a
// decoder that shares nothing with it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { shown, streams, tell } from './decode.mjs';
import { TARGET, made } from './make-rules.mjs';
import { contradiction, plain, record } from './truth.mjs';

const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hp-record-')));
after(() => fs.rmSync(folder, { recursive: true, force: true }));
let count = 0;

function file(text, ending = 'cjs') {
  count += 1;
  const made = path.join(folder, `f${count}.${ending}`);
  fs.writeFileSync(made, text);
  return made;
}

// Runs it both ways; what it says and how it ends must not differ.
function both(text, { ending, env, config } = {}) {
  const made = file(text, ending);
  const as = plain(folder, [made], { env });
  const run = record(folder, [made], { env, config });
  assert.equal(run.stdout, as.stdout);
  assert.equal(run.stderr, as.stderr);
  assert.equal(run.status, as.status);
  return streams(run.recording);
}

function only(text, more) {
  const found = both(text, more);
  assert.equal(found.length, 1);
  assert.ok(found[0].whole);
  return found[0];
}

describe('a recorded program', () => {
  test('is told by its calls, lines and writes', () => {
    const stream = only(`class Item {\n  constructor(qty) { this.qty = qty; }\n  add(n) {\n    this.qty += n;\n    return this.qty;\n  }\n}\nconst item = new Item(2);\nitem.add(3);`);
    assert.deepEqual(tell(stream.roots[0]), [
      '<module>()', '  :8', '  Item.constructor(this=Item{}, qty=2)', '    :2', '    this.qty = 2', '    return Item{qty: 2}',
      '  item = Item{qty: 2}', '  :9', '  Item.add(this=Item{qty: 2}, n=3)', '    :4', '    this.qty = 5', '    :5', '    return 5', '  return undefined']);
    assert.deepEqual(stream.end, { exit: 0 });
    assert.equal(stream.functions.find((fn) => fn.name === 'add').flags, 32);
  });

  test('has its exceptions raised, handled and unwound', () => {
    const stream = only(`function a() {\n  null.x;\n}\nfunction b() {\n  try { a(); } catch { return 1; }\n}\nb();\ntry { a(); } catch ({ message }) { console.log(message); }`);
    const [first, second] = stream.calls.filter((call) => call.name === 'a');
    assert.equal(first.end, 'unwind');
    assert.deepEqual(first.steps.map(([what]) => what), ['line', 'raise']);
    assert.equal(shown(second.result), 'TypeError("Cannot read properties of null (reading \'x\')")');
    assert.ok(stream.calls.find((call) => call.name === 'b').steps.some(([what, v]) => what === 'handled' && v.type === 'TypeError'));
  });

  test('tells what it changed in place, and runs no getter for it', () => {
    const stream = only(`let ran = 0;\nconst own = { get list() { ran += 1; return kept; }, rows: [[1]] };\nconst kept = [];\nconst seen = new Proxy([], { get(of, key) { ran += 1; return of[key]; } });\nfunction f(k) {\n  own.list.push(1);\n  own.rows[k].push(2);\n  seen.push(3);\n  kept?.unshift(4);\n  const [first] = kept.splice(0, 1);\n  return kept.sort().length;\n}\nf(0);\ntry { own.rows.push.push(1); } catch (e) { console.log(e.message, ran); }\ntry { const [x] = kept.missing(); } catch (e) { console.log(e.message); }\ntry { kept.pop().pop(); } catch (e) { console.log(e.message); }`);
    const f = stream.calls.find((call) => call.name === 'f');
    assert.deepEqual(f.steps.filter(([what]) => what === 'write').map(([, name, v]) => `${name} = ${shown(v)}`),
      ['own.rows[k] = [1, 2]', 'kept = [4, 1]', 'kept = [1]', 'first = 4', 'kept = [1]']);
  });

  test('may be a module, with cycles and top-level await', () => {
    const one = path.join(folder, 'one.mjs');
    const two = path.join(folder, 'two.mjs');
    fs.writeFileSync(two, `import { up } from './one.mjs';\nexport const early = up(1);\nexport const later = async (x) => { await null; return x; };`);
    fs.writeFileSync(one, `import { early, later } from './two.mjs';\nexport function up(n) { return n + 1; }\nconst got = await later(early);\nconsole.log(got, import.meta.url.length > 0);`);
    const run = record(folder, [one]);
    assert.equal(run.stdout, '2 true\n');
    const [stream] = streams(run.recording);
    assert.deepEqual(stream.calls.map((call) => call.name), ['<module>', 'up', '<module>', 'later']);
    assert.deepEqual(stream.calls.map((call) => call.end), ['return', 'return', 'return', 'return']);
  });

  test('has one stream per worker and per child', () => {
    const found = both(`const { Worker, isMainThread } = require('node:worker_threads');\nfunction f(x) { return x; }\nif (process.argv[2] === 'child') f('child');\nelse if (isMainThread) { f('main'); new Worker(__filename); require('node:child_process').execFileSync(process.execPath, [__filename, 'child']); }\nelse f('worker');`);
    assert.deepEqual(found.flatMap((stream) => stream.calls.filter((call) => call.name === 'f').map((call) => call.args[0])).sort(), ['child', 'main', 'worker']);
  });

  test('is what it was: names, texts, lengths, stacks, arguments, strictness', () => {
    only(`const f = () => {}; let g; g = function () { return arguments.length; }; class K { static s = class {}; m(a, b = 1) {} }
const o = { h: () => {}, ['c' + 1]() {} }; function dup(a) { var a; function a() { return 1; } return typeof a; }
console.log(f.name, g.name, g.length, K.s.name, o.h.name, o.c1.name, g(1, 2), new K().m.length, dup(3));
console.log(f.toString(), K.toString(), g.toString(), Function.prototype.toString.toString());
console.log((function () { return this === undefined; })(), (function () { 'use strict'; return this === undefined; })());
function thrower() { throw new Error('x'); }
try { thrower(); } catch (e) { console.log(e.stack.split('\\n').slice(0, 3).join('|')); }
console.log(eval('1 + 1; var q = 3; q'), new Function('a', 'return a * 2')(4)); a: for (const i of [1, 2]) { for (;;) { continue a; } }
if (g) function inIf() {}
var x = 1
;[x] = [2]
console.log(x, Object.keys(globalThis).length, typeof $ === 'undefined')`);
  });

  test('crashes as it would', () => {
    for (const text of ['function f() {\n\tthrow new TypeError("boom");\n}\nf();', 'const o = null;\nsetTimeout(() => { o.x; }, 1);', 'Promise.reject(Object.assign(new Error("r"), { code: 1 }));']) {
      const made = file(text);
      const as = plain(folder, [made]);
      const run = record(folder, [made]);
      // One frame of a stack that reaches its limit is ours.
      assert.deepEqual(run.stderr.split('\n').slice(0, 8), as.stderr.split('\n').slice(0, 8));
      assert.equal(run.status, 1);
      assert.deepEqual(streams(run.recording)[0].end, { exit: 1 });
    }
  });
});

describe('values', () => {
  test('are seen without running anything of the program', () => {
    const stream = only(`let hits = 0; const bad = () => { hits += 1; throw 1; };
const proxy = new Proxy({}, { get: bad, ownKeys: bad, getOwnPropertyDescriptor: bad, getPrototypeOf: bad, has: bad });
class W { static get name() { return bad(); } } Object.defineProperty(W.prototype, 'constructor', { get: bad });
const get = Map.prototype.get; Map.prototype.get = function (k) { hits += 1; return Reflect.apply(get, this, [k]); };
function take(v) { return 1; }
take(proxy); take({ get a() { return bad(); }, toString: bad }); take(new W()); take(new Map([[1, proxy]])); take(-0); take(2n ** 80n); take('é'.repeat(300)); take([1, , 3]);
console.log(hits);`);
    const seen = stream.calls.filter((call) => call.name === 'take').map((call) => shown(call.args[0]).replace(/(.{40}).*/, '$1'));
    assert.deepEqual(seen, ['<Proxy>', 'Object{a: <accessor >, toString: <functi', 'Object{}', 'Map{1: <Proxy>}', '-0', '1208925819614629174706176n', `"${'é'.repeat(39)}`, '[1, undefined, 3]']);
  });

  test('are hidden where a name or their look says so, before they are written', () => {
    const made = file(`function login(user, password) { const o = { apiKey: 'k-123456', user }; return o; }\nlogin('ann', 'hunter2-secret'); const h = 'Authorization: Bearer abcdef0123456789abcdef'; const t = ['ghp_0123456789abcdefghijABCDEFGHIJ0123'];`);
    const run = record(folder, [made]);
    const [stream] = streams(run.recording);
    assert.equal(shown(stream.calls[1].args[1]), '<secret 14>');
    for (const name of fs.readdirSync(run.recording).filter((it) => it.endsWith('.hps'))) {
      const bytes = fs.readFileSync(path.join(run.recording, name)).toString('latin1');
      for (const word of ['hunter2', 'k-123456', 'ghp_0123', 'abcdef0123']) assert.ok(!bytes.includes(word), word);
    }
  });
});

test('what is a secret is what the engine says', () => {
  assert.equal(fs.readFileSync(TARGET, 'utf8'), made());
});

describe('limits', () => {
  test('a long loop is told to a point, and how much is missing', () => {
    const stream = only('let n = 0;\nfor (let i = 0; i < 300000; i++) { n += i; }\nconsole.log(n);', { config: { limits: { events: 200_000 } } });
    const gaps = stream.roots[0].steps.filter(([what]) => what === 'gap');
    assert.equal(gaps.length, 1);
    assert.deepEqual(stream.roots[0].steps.at(-1), ['line', 3]);
  });

  test('a hot function falls to calls, then to counts', () => {
    const stream = only('function hot(a) { const b = a + 1; return b; }\nlet s = 0;\nfor (let i = 0; i < 5000; i++) s += hot(i);\nconsole.log(s);', { config: { limits: { events: 2000, calls: 500 } } });
    assert.deepEqual(stream.levels.filter(({ fn }) => fn.name === 'hot').map(({ level }) => level), [1, 0]);
    const told = stream.calls.filter((call) => call.name === 'hot').length;
    assert.equal(told + stream.counts.get(stream.functions.find((fn) => fn.name === 'hot')), 5000);
  });

  test('a broken configuration and a missing helper leave the program alone', () => {
    const made = file('function f(n) { return n === 0 ? 0 : f(n - 1); }\nconsole.log(f(50));');
    assert.equal(record(folder, [made], { config: { version: 99 } }).stdout, '0\n');
    const missing = record(folder, [file('console.log(1 + 1)')], { config: { instrument: '/nowhere' } });
    assert.equal(missing.stdout, '2\n');
    assert.match(streams(missing.recording)[0].notes[0].why, /not instrumented/);
  });

  test('where nothing more can be written, the program goes on, and the end says so', () => {
    const made = file('function f(x) { return x; }\nfor (let i = 0; i < 100000; i++) f(i);\nconsole.log("done");');
    const run = record(folder, ['-c', `ulimit -f 400; exec ${process.execPath} ${made}`], { node: '/bin/bash' });
    assert.equal(run.stdout, 'done\n');
    assert.equal(run.status, 0);
    const [stream] = streams(run.recording);
    assert.ok(stream.whole && stream.calls.length > 1000);
    assert.equal(stream.notes.at(-1).why, 'EFBIG');
    assert.deepEqual(stream.end, { exit: 0 });
  });

  test('a process that is killed leaves what was written', () => {
    const run = record(folder, [file("function f(x) { return x; }\nfor (let i = 0; i < 200000; i++) f(i);\nprocess.kill(process.pid, 'SIGKILL');")]);
    assert.equal(run.signal, 'SIGKILL');
    const [stream] = streams(run.recording);
    assert.equal(stream.end, undefined);
    assert.ok(stream.calls.length > 100_000);
  });

  test('deep recursion ends as it does', () => {
    only('let n = 0; function down() { n += 1; down(); }\ntry { down(); } catch (e) { console.log(e instanceof RangeError, e.message); }\nfunction sum(k) { return k === 0 ? 0 : k + sum(k - 1); }\nconsole.log(sum(4000));');
  });
});

test('random programs are told as their twins tell themselves', () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const found = contradiction(folder, seed);
    assert.equal(found.why, undefined, JSON.stringify(found));
  }
});

test('the tests of a runner say when they begin and how they end', () => {
  const made = file("const { test, describe, it } = require('node:test');\ntest('one', () => {});\ndescribe('group', () => { it('two', async () => { throw new Error('no'); }); });", 'test.cjs');
  const run = record(folder, ['--test', made]);
  assert.equal(run.status, 1);
  const tests = streams(run.recording).flatMap((stream) => stream.tests);
  assert.deepEqual(tests.map(({ name, phase, outcome, message }) => [name, phase, outcome, message]), [
    ['one', 'begin', undefined, undefined], ['one', 'end', 'passed', undefined],
    ['group > two', 'begin', undefined, undefined], ['group > two', 'end', 'failed', 'no']]);
});

test('a text is instrumented once, for all runs', () => {
  const cache = path.join(folder, 'shared-cache');
  const made = file('function f() { return 1; }\nconsole.log(f());');
  record(folder, [made], { cache });
  const names = () => fs.readdirSync(cache, { recursive: true }).sort().join();
  assert.ok(names().includes(path.sep), 'nothing is kept');
  const before = names();
  const again = record(folder, [made], { cache, config: { instrument: null } });
  assert.equal(streams(again.recording)[0].calls.length, 2);
  assert.equal(names(), before);
});
