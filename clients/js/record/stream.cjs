// The file of this isolate: records go into one buffer, the buffer into a chunk, a chunk out by one write.
// What is written is `docs/contract/recording.md`. Nothing here throws into the program.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');
const { performance } = require('node:perf_hooks');
const { threadId, isMainThread } = require('node:worker_threads');

const HEADER = 16;
// A chunk is written when it has this much; one event may add a good deal to it.
const FULL = 64 * 1024;
const SIZE = 1024 * 1024;
const OLD_MS = 100;

const buf = Buffer.allocUnsafeSlow(SIZE);
const now = performance.now.bind(performance);
const later = setTimeout;
const { writeSync, openSync, ftruncateSync, closeSync, fstatSync } = fs;
// The program may do to its builtins what it likes.
const { floor } = Math;
const { stringify } = JSON;
const { byteLength } = Buffer;
const { utf8Write, writeUInt32LE, subarray } = Buffer.prototype;
const { apply } = Reflect;
const codeAt = Function.prototype.call.bind(String.prototype.charCodeAt);
const uint32 = (n, at) => apply(writeUInt32LE, buf, [n, at]);

// As in `frames.cjs`: it keeps a function out of its callers.
const APART = false;
let bin;

const out = {
  buf,
  pos: HEADER,
  full: FULL,
  // The microsecond of the last record that has a time.
  tick: 0,
  // When the buffer was last written, of the same clock.
  since: 0,
  bytes: 0,
  dead: false,
  armed: false,
  name: '',
  // Asked when a chunk was written: the limits are looked at there.
  onFlush: null,
  // Whether the program's stack has room for more than a few frames of ours.
  roomy: () => true,
};
let fd = -1;
let file = { ino: 0, dev: 0 };
let lost = '';

function open(folder) {
  for (let n = 1; n < 100_000; n += 1) {
    const name = `${process.pid}-${n}`;
    try {
      fd = openSync(path.join(folder, `${name}.hps`), 'wx', 0o600);
      out.name = name;
      file = fstatSync(fd);
      writeSync(fd, Buffer.from('HPSTRM\0\x01', 'latin1'));
      out.bytes = 8;
      out.tick = floor(now() * 1000);
      out.since = out.tick;
      return true;
    } catch (error) {
      if (error.code !== 'EEXIST') return false;
    }
  }
  return false;
}

// Short and without a loop: the engine puts it wherever it is called.
function u(n) {
  const p = out.pos;
  if (n < 128) {
    buf[p] = n;
    out.pos = p + 1;
  } else if (n < 16_384) {
    buf[p] = (n & 127) | 128;
    buf[p + 1] = n >>> 7;
    out.pos = p + 2;
  } else {
    wide(n);
  }
}

function wide(n) {
  let p = out.pos;
  while (n >= 2147483648) {
    buf[p++] = (n % 128) | 128;
    n = floor(n / 128);
  }
  while (n >= 128) {
    buf[p++] = (n & 127) | 128;
    n >>>= 7;
  }
  buf[p++] = n;
  out.pos = p;
}

function s(n) {
  if (n > 4503599627370495 || n < -4503599627370495) return big(BigInt(n));
  return u(n >= 0 ? n * 2 : -n * 2 - 1);
}

function big(n) {
  let rest = BigInt.asUintN(64, (n << 1n) ^ (n >> 63n));
  while (rest >= 128n) {
    buf[out.pos++] = Number(rest & 127n) | 128;
    rest >>= 7n;
  }
  buf[out.pos++] = Number(rest);
}

function text(t) {
  const length = t.length;
  if (length < 64) {
    const b = buf;
    const start = out.pos;
    let p = start + 1;
    let at = 0;
    for (; at < length; at += 1) {
      const code = codeAt(t, at);
      if (code > 127) break;
      b[p++] = code;
    }
    if (at === length) {
      b[start] = length;
      out.pos = p;
      return;
    }
  }
  const bytes = byteLength(t, 'utf8');
  u(bytes);
  apply(utf8Write, buf, [t, out.pos, bytes]);
  out.pos += bytes;
}

// Microseconds since the last record that had any.
function ticks() {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  const tick = floor(now() * 1000);
  const since = tick - out.tick;
  if (since > 0) {
    out.tick = tick;
    u(since);
  } else {
    buf[out.pos++] = 0;
  }
}

const crc32 = zlib.crc32 ?? slowly();

function slowly() {
  const table = new Int32Array(256);
  for (let n = 0; n < 256; n += 1) {
    let c = n;
    for (let k = 0; k < 8; k += 1) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    table[n] = c;
  }
  return (bytes) => {
    let c = -1;
    for (let n = 0; n < bytes.length; n += 1) c = table[(c ^ bytes[n]) & 255] ^ (c >>> 8);
    return (c ^ -1) >>> 0;
  };
}

function flush() {
  const end = out.pos;
  if (out.dead || fd < 0) {
    out.pos = HEADER;
    return;
  }
  if (end === HEADER) return;
  // At the end of the program's stack the buffer waits: it has room for a good deal more.
  if (end < SIZE - 2 * FULL && !out.roomy()) return;
  const at = now();
  out.since = out.tick;
  uint32(end - HEADER, 0);
  uint32(crc32(apply(subarray, buf, [HEADER, end])), 4);
  const ns = floor(at * 1e6);
  uint32(ns % 4294967296, 8);
  uint32(floor(ns / 4294967296), 12);
  out.pos = HEADER;
  try {
    put(end);
    out.bytes += end;
  } catch (error) {
    // What follows would name values of the chunk that is missing: nothing more is recorded, and the end says why.
    lost = String(error?.code ?? 'write');
    out.dead = true;
    try {
      if (lost !== 'EBADF') ftruncateSync(fd, out.bytes);
    } catch {
      // A torn chunk is the end as well.
    }
  }
  if (out.onFlush !== null) out.onFlush();
}

function put(end) {
  // Who closes every file may have opened one of its own under our number.
  const { ino, dev } = fstatSync(fd);
  if (ino !== file.ino || dev !== file.dev) throw Object.assign(new Error(), { code: 'EBADF' });
  let done = 0;
  // By its place: a write that failed in the middle has moved on.
  while (done < end) done += writeSync(fd, buf, done, end - done, out.bytes + done);
}

// A buffer to which nothing more is added goes out by itself.
function arm() {
  out.armed = true;
  try {
    later(() => {
      out.armed = false;
      flush();
    }, OLD_MS).unref();
  } catch {
    // Too late in the life of the process for a timer.
  }
}

function json(op, value) {
  buf[out.pos++] = op;
  text(stringify(value));
}

// The last record; a process that could not write says how much it wanted to, if there is room for that.
function end(how) {
  // A file of the program's own stands in the place of ours: it is left alone.
  if (fd < 0 || lost === 'EBADF') return;
  if (out.dead) {
    out.dead = false;
    out.pos = HEADER;
    json(0x07, { lost: 1, why: lost });
  }
  json(0x08, how);
  flush();
  try {
    if (lost !== 'EBADF') closeSync(fd);
  } catch {
    // It is closed with the process.
  }
  fd = -1;
  out.dead = true;
}

function place() {
  return { threadId, isMainThread };
}

module.exports = { out, buf, u, s, big, text, ticks, flush, arm, json, open, end, now, place, HEADER };
