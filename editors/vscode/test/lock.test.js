'use strict';

const assert = require('node:assert');
const { spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { test } = require('node:test');
const limits = require('../lib/limits');
const { Lock } = require('../lib/lock');
const { scratch } = require('./fake');

const deadPid = () => spawnSync(process.execPath, ['-e', '0']).pid;
const held = (folder, owner) => fs.writeFileSync(path.join(folder, 'host.lock'), JSON.stringify(owner));

test('one of two has it, and the other when the first let go', () => {
  const folder = scratch();
  const [first, second] = [new Lock(folder, 'a'), new Lock(folder, 'b')];
  assert.ok(first.take());
  assert.ok(!second.take());
  assert.ok(first.isOurs() && !second.isOurs());
  second.release();
  assert.ok(first.isOurs(), 'nobody frees what is not theirs');
  first.release();
  assert.ok(second.take());
});

test('what a dead process left is taken at once', () => {
  const folder = scratch();
  held(folder, { bridgeId: 'gone', pid: deadPid(), host: os.hostname() });
  assert.ok(new Lock(folder, 'b').take());
});

test('a silent owner gets time to wake up', () => {
  const folder = scratch();
  let now = Date.now();
  held(folder, { bridgeId: 'sleeps', pid: process.pid, host: os.hostname() });
  const lock = new Lock(folder, 'b', () => now);
  assert.ok(!lock.take(), 'just made');
  now += limits.SILENT_MS + 1;
  assert.ok(!lock.take(), 'silent, but perhaps only asleep');
  fs.writeFileSync(path.join(folder, 'host.json'), '{}');
  fs.utimesSync(path.join(folder, 'host.json'), now / 1000, now / 1000);
  now += limits.LOCK_GRACE_MS;
  assert.ok(!lock.take(), 'it beat again');
  now += limits.SILENT_MS;
  assert.ok(!lock.take());
  now += limits.LOCK_GRACE_MS;
  assert.ok(lock.take(), 'silent for good');
});

test('a process of another machine is judged by its heartbeat alone', () => {
  const folder = scratch();
  held(folder, { bridgeId: 'far', pid: deadPid(), host: 'elsewhere' });
  assert.ok(!new Lock(folder, 'b').take());
});

test('two that take over at once agree on one', () => {
  const folder = scratch();
  held(folder, { bridgeId: 'gone', pid: deadPid(), host: os.hostname() });
  const locks = Array.from({ length: 8 }, (_, at) => new Lock(folder, `n${at}`));
  const taken = locks.filter((it) => it.take());
  assert.equal(taken.length, 1);
  assert.ok(taken[0].isOurs());
  assert.deepEqual(fs.readdirSync(folder), ['host.lock']);
});
