'use strict';

const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { test } = require('node:test');
const { EventLog } = require('../lib/events');
const files = require('../lib/files');
const { scratch } = require('./fake');

const mode = (file) => fs.statSync(file).mode & 0o777;

test('a folder is private, also one that was not', () => {
  const folder = path.join(scratch(), 'b');
  fs.mkdirSync(folder, { mode: 0o755 });
  files.privateFolder(folder);
  assert.equal(mode(folder), 0o700);
});

test('a link in place of the folder is refused', () => {
  const above = scratch();
  fs.mkdirSync(path.join(above, 'elsewhere'));
  fs.symlinkSync(path.join(above, 'elsewhere'), path.join(above, 'b'));
  assert.throws(() => files.privateFolder(path.join(above, 'b')), { code: 'E_FORBIDDEN' });
});

test("another user's folder is refused", { skip: process.getuid?.() !== 0 && 'only root can give files away' }, () => {
  const folder = path.join(scratch(), 'b');
  fs.mkdirSync(folder);
  fs.chownSync(folder, 12345, 12345);
  assert.throws(() => files.privateFolder(folder), { code: 'E_FORBIDDEN' });
});

test('of many that create a file, one does, and it is whole', () => {
  const file = path.join(scratch(), 'claimed.json');
  const made = Array.from({ length: 20 }, (_, at) => files.createWhole(file, JSON.stringify({ at })));
  assert.deepEqual(made.filter(Boolean).length, 1);
  assert.deepEqual(files.readJson(file), { at: 0 });
  assert.equal(mode(file), 0o600);
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['claimed.json'], 'nothing else stays');
});

test('events are numbered from 1 and turned over when there are many', () => {
  const folder = scratch();
  const log = new EventLog(folder, 'b1', 1000);
  for (let at = 0; at < 30; at += 1) log.append('output', { text: 'x'.repeat(40) });
  log.close();
  const read = (name) => fs.readFileSync(path.join(folder, name), 'utf8').trim().split('\n').map((it) => JSON.parse(it));
  const [before, now] = [read('events.1.ndjson'), read('events.ndjson')];
  assert.equal(now.at(-1).seq, 30);
  assert.equal(now[0].seq, before.at(-1).seq + 1, 'no number is lost between the files');
  assert.equal(now[0].bridgeId, 'b1');
  assert.equal(mode(path.join(folder, 'events.ndjson')), 0o600);
  assert.ok(fs.statSync(path.join(folder, 'events.1.ndjson')).size <= 1000);
  const next = new EventLog(folder, 'b2', 1000);
  next.append('control', { holder: 'agent' });
  next.close();
  assert.deepEqual(fs.readdirSync(folder), ['events.ndjson'], 'another bridge begins anew');
  assert.equal(read('events.ndjson')[0].seq, 1);
});
