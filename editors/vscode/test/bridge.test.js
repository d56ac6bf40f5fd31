'use strict';

const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { test } = require('node:test');
const { Bridge } = require('../lib/bridge');
const { Failure } = require('../lib/failure');
const limits = require('../lib/limits');
const { scratch, until } = require('./fake');

// A bridge whose scripts are functions of the test, and a client of it.
function site(scripts = {}, workspace = scratch()) {
  const states = [];
  const ran = [];
  const bridge = new Bridge({
    workspace,
    version: '0.1.0',
    run: (name, params, call) => {
      ran.push(params?.n ?? name);
      return scripts[name](params, call);
    },
    onState: (state) => states.push(state),
  });
  bridge.open();
  return { bridge, workspace, states, ran, folder: bridge.folder };
}

let jobs = 0;

function submit(folder, scriptName, params, more = {}) {
  jobs += 1;
  const name = more.name ?? `job-${jobs}`;
  const job = path.join(folder, 'execute', name);
  fs.mkdirSync(job, { recursive: true, mode: 0o700 });
  const text = more.text ?? JSON.stringify({ version: 1, id: name, scriptName, params, timeout: more.timeout });
  fs.writeFileSync(path.join(job, 'command.json.tmp'), text);
  fs.renameSync(path.join(job, 'command.json.tmp'), path.join(job, 'command.json'));
  return job;
}

async function answer(job, ms) {
  await until(() => fs.existsSync(path.join(job, 'done')), `an answer in ${job}`, ms);
  const file = ['error.json', 'response.json'].map((it) => path.join(job, it)).find((it) => fs.existsSync(it));
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

test('the folder is as the contract has it', (t) => {
  const { bridge, folder } = site();
  t.after(() => bridge.close());
  assert.deepEqual(fs.readdirSync(folder).sort(), ['.gitignore', 'events.ndjson', 'execute', 'host.json', 'host.lock']);
  assert.equal(fs.readFileSync(path.join(folder, '.gitignore'), 'utf8'), '*\n');
  const host = JSON.parse(fs.readFileSync(path.join(folder, 'host.json'), 'utf8'));
  assert.equal(host.pid, process.pid);
  assert.equal(host.version, 1);
  assert.match(host.bridgeId, /^extHost-[0-9a-f]{8}$/);
  assert.equal(host.holdpoint.protocol, 1);
  for (const it of ['typed-errors', 'cancel', 'events', 'breakpoint-truth', 'control']) assert.ok(host.holdpoint.capabilities.includes(it), it);
  for (const it of fs.readdirSync(folder).filter((name) => name !== 'execute')) {
    assert.equal(fs.statSync(path.join(folder, it)).mode & 0o777, 0o600, it);
  }
  assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
});

test('a job is claimed, run and answered; a typed failure keeps its code', async (t) => {
  const { bridge, folder } = site({
    add: async ({ a, b }) => a + b,
    fail: async () => {
      throw new Failure('E_NO_SESSION', 'none', { details: { sessions: [] } });
    },
    crash: async () => undefined.x,
  });
  t.after(() => bridge.close());
  const good = await answer(submit(folder, 'add', { a: 1, b: 2 }));
  assert.equal(good.data, 3);
  assert.equal(good.ok, true);
  assert.equal(good.meta.requestId, `job-${jobs}`);
  const bad = await answer(submit(folder, 'fail'));
  assert.equal(bad.error.code, 'E_NO_SESSION');
  assert.ok(bad.error.hint);
  assert.deepEqual(bad.error.details, { sessions: [] });
  const crashed = await answer(submit(folder, 'crash'));
  assert.equal(crashed.error.code, 'E_INTERNAL');
  assert.ok(!JSON.stringify(crashed).includes('    at '), 'no stack');
  const nonsense = await answer(submit(folder, 'x', {}, { text: '{"scriptName":' }));
  assert.equal(nonsense.error.code, 'E_INVALID_REQUEST');
});

test('what somebody else claimed is not run', async (t) => {
  const { bridge, folder, ran } = site({ add: async () => 1 });
  t.after(() => bridge.close());
  const job = path.join(folder, 'execute', 'mine');
  fs.mkdirSync(job);
  fs.writeFileSync(path.join(job, 'claimed.json'), '');
  submit(folder, 'add', {}, { name: 'mine' });
  await answer(submit(folder, 'add', { n: 'next' }));
  assert.deepEqual(ran, ['next']);
});

test('a cancel ends the script itself', async (t) => {
  let ended;
  const { bridge, folder } = site({
    wait: (_, { signal }) => new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        ended = Date.now();
        reject(signal.reason);
      });
    }),
    stubborn: () => new Promise(() => {}),
  });
  t.after(() => bridge.close());
  for (const script of ['wait', 'stubborn']) {
    const job = submit(folder, script);
    await until(() => fs.existsSync(path.join(job, 'claimed.json')), 'a claim');
    fs.writeFileSync(path.join(job, 'cancel'), '');
    assert.equal((await answer(job)).error.code, 'E_CANCELLED');
  }
  assert.ok(ended);
});

test("the client's patience is the job's", async (t) => {
  const { bridge, folder } = site({ stubborn: () => new Promise(() => {}) });
  t.after(() => bridge.close());
  assert.equal((await answer(submit(folder, 'stubborn', {}, { timeout: 60 }))).error.code, 'E_TIMEOUT');
});

test('ten run, others wait for their turn, and too many are refused', async (t) => {
  let running = 0;
  let most = 0;
  const gates = [];
  const { bridge, folder, ran } = site({
    hold: async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => gates.push(resolve));
      running -= 1;
    },
  });
  t.after(() => bridge.close());
  const total = limits.RUNNING + limits.QUEUED;
  const all = [];
  for (let at = 0; at < total; at += 1) all.push(submit(folder, 'hold', { n: at }));
  await until(() => bridge.jobs.queue.length === limits.QUEUED, 'a full queue');
  assert.equal((await answer(submit(folder, 'hold', { n: 'over' }))).error.code, 'E_CAPACITY');
  const waiting = path.join(folder, 'execute', bridge.jobs.queue.at(-1).name);
  fs.writeFileSync(path.join(waiting, 'cancel'), '');
  assert.equal((await answer(waiting)).error.code, 'E_CANCELLED');
  const opened = setInterval(() => gates.splice(0).forEach((open) => open()), 1);
  t.after(() => clearInterval(opened));
  for (const job of all) await answer(job);
  assert.equal(most, limits.RUNNING);
  assert.equal(new Set(ran).size, total - 1, 'each ran, but the cancelled one');
});

test('large data has a file of its own', async (t) => {
  const { bridge, folder } = site({ large: async () => 'x'.repeat(limits.INLINE_BYTES + 1) });
  t.after(() => bridge.close());
  const job = submit(folder, 'large');
  const said = await answer(job);
  assert.equal(said.dataRef, 'data.json');
  assert.equal(said.data, undefined);
  assert.equal(JSON.parse(fs.readFileSync(path.join(job, 'data.json'), 'utf8')).length, limits.INLINE_BYTES + 1);
});

test('a second window waits, then serves; jobs of before are not run', async (t) => {
  const first = site({ add: async () => 1 });
  const second = site({ add: async () => 2 }, first.workspace);
  t.after(() => second.bridge.close());
  assert.deepEqual([first.states, second.states], [['serving'], ['waiting']]);
  const old = path.join(first.folder, 'execute', 'old');
  fs.mkdirSync(old);
  first.bridge.close();
  fs.writeFileSync(path.join(old, 'command.json'), JSON.stringify({ scriptName: 'add' }));
  await until(() => second.states.includes('serving'), 'the second serves');
  assert.ok(!fs.existsSync(old));
  assert.deepEqual(second.ran, []);
  assert.equal((await answer(submit(first.folder, 'add'))).data, 2);
});

test('a window that closes answers those who wait', async () => {
  const { bridge, folder } = site({ stubborn: () => new Promise(() => {}) });
  const job = submit(folder, 'stubborn');
  await until(() => bridge.jobs.running.size === 1, 'it runs');
  bridge.close();
  assert.equal((await answer(job)).error.code, 'E_BRIDGE_RESTARTED');
  assert.ok(!fs.existsSync(path.join(folder, 'host.lock')));
});

test('a folder that somebody deleted comes back', (t) => {
  const { bridge, folder } = site({});
  t.after(() => bridge.close());
  const before = bridge.bridgeId;
  fs.rmSync(path.dirname(folder), { recursive: true });
  bridge.beat();
  assert.notEqual(bridge.bridgeId, before);
  assert.ok(fs.existsSync(path.join(folder, 'host.json')));
});

test('whoever finds its lock in other hands stops', (t) => {
  const { bridge, folder, states } = site({});
  t.after(() => bridge.close());
  fs.writeFileSync(path.join(folder, 'host.lock'), JSON.stringify({ bridgeId: 'other', pid: process.pid, host: require('os').hostname() }));
  bridge.beat();
  assert.equal(states.at(-1), 'waiting');
  bridge.close();
  assert.equal(JSON.parse(fs.readFileSync(path.join(folder, 'host.lock'), 'utf8')).bridgeId, 'other');
});

// A small generator, so that a failure can be seen again.
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
}

test('no job is lost and none runs twice, whatever the order of files', async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1e9);
  t.diagnostic(`seed ${seed}`);
  const next = random(seed);
  const counts = new Map();
  const { bridge, folder } = site({
    work: async ({ n }) => {
      counts.set(n, (counts.get(n) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, n % 3));
      return n;
    },
  });
  t.after(() => bridge.close());
  const open = [];
  for (let n = 0; n < 400; n += 1) {
    const name = `walk-${n}`;
    const job = path.join(folder, 'execute', name);
    const put = () => submit(folder, 'work', { n }, { name });
    if (next(2) === 0) fs.mkdirSync(job);
    if (next(3) === 0) await new Promise((resolve) => setTimeout(resolve, next(4)));
    put();
    // A client touches its command until it is claimed; the bridge may see that as anything.
    if (next(4) === 0) fs.utimesSync(path.join(job, 'command.json'), new Date(), new Date());
    const isCancelled = next(10) === 0;
    if (isCancelled) fs.writeFileSync(path.join(job, 'cancel'), '');
    if (next(8) === 0) bridge.pickup.scan();
    open.push({ n, job, isCancelled });
    if (open.length >= 40) await finish(open.splice(0, 20), counts, seed);
  }
  await finish(open, counts, seed);
});

async function finish(some, counts, seed) {
  for (const { n, job, isCancelled } of some) {
    const said = await answer(job, 20000);
    const times = counts.get(n) ?? 0;
    assert.ok(times <= 1, `job ${n} ran ${times} times, seed ${seed}`);
    if (said.ok) assert.equal(said.data, n, `seed ${seed}`);
    else assert.ok(isCancelled && said.error.code === 'E_CANCELLED', `job ${n}: ${said.error.code}, seed ${seed}`);
    if (!isCancelled) assert.equal(times, 1, `job ${n} did not run, seed ${seed}`);
    fs.rmSync(job, { recursive: true });
  }
}
