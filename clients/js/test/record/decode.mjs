// Reads a recording's stream as `docs/contract/recording.md` says it, and nothing else: it shares no line with the recorder.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const NAMES = { 1: 'PROCESS', 2: 'STRING', 3: 'FILE', 4: 'FUNCTION', 5: 'VALUE', 6: 'THREAD', 7: 'NOTE', 8: 'END', 9: 'TEST', 16: 'CALL', 17: 'RETURN',
  18: 'YIELD', 19: 'RESUME', 20: 'RAISE', 21: 'UNWIND', 22: 'HANDLED', 23: 'WRITE', 26: 'LEVEL', 27: 'COUNT', 29: 'LINE', 30: 'GAP', 31: 'LINE_AT' };

export function chunks(bytes) {
  if (bytes.subarray(0, 8).toString('latin1') !== 'HPSTRM\0\x01') throw new Error('no stream');
  const parts = [];
  let at = 8;
  while (at + 16 <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    if (length > 1 << 20 || at + 16 + length > bytes.length) break;
    const payload = bytes.subarray(at + 16, at + 16 + length);
    if (zlib.crc32 !== undefined && zlib.crc32(payload) !== bytes.readUInt32LE(at + 4)) break;
    parts.push(payload);
    at += 16 + length;
  }
  return { payload: Buffer.concat(parts), whole: at === bytes.length, chunks: parts.length };
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  byte() {
    if (this.at >= this.bytes.length) throw new Error('torn record');
    return this.bytes[this.at++];
  }
  u() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value > 9007199254740991n ? value : Number(value);
    }
  }
  s() {
    const n = BigInt(this.u());
    const value = n & 1n ? -((n + 1n) >> 1n) : n >> 1n;
    return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
  }
  b() {
    const length = this.u();
    this.at += length;
    if (this.at > this.bytes.length) throw new Error('torn record');
    return this.bytes.subarray(this.at - length, this.at);
  }
  t() {
    return this.b().toString('utf8');
  }
}

// Values are read into what a person would call them: primitives as they are, everything else as an object that says its kind.
function value(r, strings, values) {
  const kind = r.u();
  const S = () => pick(strings, r.u(), 'string');
  const v = () => pick(values, r.u(), 'value');
  switch (kind) {
    case 0: return null;
    case 1: return undefined;
    case 2: return true;
    case 3: return false;
    case 4: return r.s();
    case 5: return BigInt(r.t());
    case 6: r.at += 8; return r.bytes.readDoubleLE(r.at - 8);
    case 7: {
      const length = r.u();
      const text = r.t();
      return length === text.length ? text : { kind: 'text', length, text };
    }
    case 8: return { kind: 'bytes', length: r.u(), bytes: [...r.b()] };
    case 9: return { kind: 'list', object: r.u(), type: S(), length: r.u(), items: many(r.u(), v) };
    case 10: return { kind: 'map', object: r.u(), type: S(), length: r.u(), items: many(r.u(), () => [v(), v()]) };
    case 11: return { kind: 'object', object: r.u(), type: S(), length: r.u(), fields: Object.fromEntries(many(r.u(), () => [S(), v()])) };
    case 12: return { kind: 'error', object: r.u(), type: S(), message: r.t(), bases: many(r.u(), S) };
    case 13: return { kind: 'named', type: S(), name: S() };
    case 14: return { kind: 'secret', type: S(), length: r.u(), mark: r.b().toString('hex') };
    case 15: return { kind: 'outside', object: r.u(), type: S() };
    default: throw new Error(`value of kind ${kind}`);
  }
}

function many(n, read) {
  return Array.from({ length: n }, read);
}

function pick(list, at, what) {
  if (!(at < list.length)) throw new Error(`${what} ${at} of ${list.length}`);
  return list[at];
}

// The frames of a stream, as calls with their steps.
export function decode(bytes) {
  const { payload, whole } = chunks(bytes);
  const r = new Reader(payload);
  const strings = [];
  const files = [];
  const functions = [];
  const values = [];
  const calls = [];
  const stack = [];
  const all = { whole, functions, files, values, calls, notes: [], linear: [], tests: [], levels: [], counts: new Map(), roots: [], end: undefined, process: undefined, records: 0, bytes: bytes.length };
  const top = () => stack.at(-1);
  const step = (...what) => {
    if (stack.length === 0) throw new Error(`${what[0]} without a frame`);
    top().steps.push(what);
    all.linear.push([top().n, ...what]);
  };
  const v = () => pick(values, r.u(), 'value');
  const leave = () => stack.pop() ?? fail('a frame ends that never began');
  while (r.at < payload.length) {
    const op = r.byte();
    all.records += 1;
    if (all.end !== undefined) throw new Error('a record behind END');
    if (op >= 0x80) {
      line(top().line + op - 0xc0);
      continue;
    }
    if (op >= 0x40) {
      write(op - 0x40);
      continue;
    }
    switch (NAMES[op]) {
      case 'PROCESS': all.process = JSON.parse(r.t()); break;
      case 'STRING': strings.push(r.t()); break;
      case 'FILE': files.push({ path: r.t(), sha: r.b().toString('hex') }); break;
      case 'FUNCTION': {
        const S = () => pick(strings, r.u(), 'string');
        const made = { name: S(), qualified: S(), file: pick(files, r.u(), 'file'), first: r.u(), last: r.u(), flags: r.u(), parameters: r.u() };
        made.slots = many(r.u(), S);
        functions.push(made);
        break;
      }
      case 'VALUE': values.push(value(r, strings, values)); break;
      case 'THREAD': r.u(); r.t(); break;
      case 'NOTE': all.notes.push(JSON.parse(r.t())); break;
      case 'END': all.end = JSON.parse(r.t()); break;
      case 'TEST': all.tests.push(JSON.parse(r.t())); break;
      case 'CALL': {
        const fn = pick(functions, r.u(), 'function');
        r.u();
        const call = { n: calls.length, fn, name: fn.name, args: many(fn.parameters, v), steps: [], line: fn.first, parent: top(), children: [], result: undefined, end: 'open' };
        calls.push(call);
        (call.parent?.children ?? all.roots).push(call);
        if (call.parent !== undefined) call.parent.steps.push(['call', call]);
        stack.push(call);
        all.linear.push([call.n, 'call', call]);
        break;
      }
      case 'RETURN': { const call = leave(); call.result = v(); call.end = 'return'; r.u(); all.linear.push([call.n, 'return', call.result]); break; }
      case 'UNWIND': { const call = leave(); call.result = v(); call.end = 'unwind'; r.u(); all.linear.push([call.n, 'unwind', call.result]); break; }
      case 'YIELD': { step('yield', v()); leave().end = 'left'; r.u(); break; }
      case 'RESUME': {
        const ago = r.u();
        r.u();
        const call = pick(calls, calls.length - ago, 'call');
        if (call.end !== 'left') throw new Error(`resumes a frame that is ${call.end}`);
        call.end = 'open';
        stack.push(call);
        step('resume');
        break;
      }
      case 'RAISE': step('raise', v()); break;
      case 'HANDLED': step('handled', v()); break;
      case 'WRITE': write(r.u()); break;
      case 'LEVEL': all.levels.push({ fn: pick(functions, r.u(), 'function'), level: r.u(), why: r.t() }); break;
      case 'COUNT': { const fn = pick(functions, r.u(), 'function'); all.counts.set(fn, (all.counts.get(fn) ?? 0) + r.u()); break; }
      case 'LINE': line(top().line + r.s()); break;
      case 'GAP': step('gap', r.u()); break;
      case 'LINE_AT': line(r.u()); break;
      default: throw new Error(`record ${op.toString(16)} at ${r.at}`);
    }
  }
  all.open = stack.slice();
  return all;

  function line(n) {
    if (stack.length === 0) throw new Error('a line without a frame');
    top().line = n;
    step('line', n);
  }
  function write(slot) {
    const call = top() ?? fail('a write without a frame');
    step('write', pick(call.fn.slots, slot, 'slot'), v());
  }
}

function fail(why) {
  throw new Error(why);
}

export function streams(folder) {
  return fs.readdirSync(folder).filter((name) => name.endsWith('.hps')).sort().map((name) => decode(fs.readFileSync(path.join(folder, name))));
}

// One frame in few words, for tests to compare.
export function shown(v) {
  if (typeof v === 'string') return JSON.stringify(v);
  if (typeof v === 'bigint') return `${v}n`;
  if (typeof v !== 'object' || v === null) return Object.is(v, -0) ? '-0' : String(v);
  switch (v.kind) {
    case 'text': return `${JSON.stringify(v.text)}…${v.length}`;
    case 'list': return `${v.type === 'Array' ? '' : v.type}[${v.items.map(shown).join(', ')}${v.length > v.items.length ? `, …${v.length}` : ''}]`;
    case 'map': return `${v.type}{${v.items.map(([k, x]) => `${shown(k)}: ${shown(x)}`).join(', ')}}`;
    case 'object': return `${v.type}{${Object.entries(v.fields).map(([k, x]) => `${k}: ${shown(x)}`).join(', ')}}`;
    case 'error': return `${v.type}(${JSON.stringify(v.message)})`;
    case 'named': return `<${v.type} ${v.name}>`;
    case 'secret': return `<secret ${v.length}>`;
    case 'bytes': return `<${v.length} bytes>`;
    default: return `<${v.type}>`;
  }
}

export function tell(call, depth = 0) {
  const pad = '  '.repeat(depth);
  const given = call.args.map((arg, at) => `${call.fn.slots[at]}=${shown(arg)}`).join(', ');
  const lines = [`${pad}${call.fn.qualified}(${given})`];
  for (const [what, a, b] of call.steps) {
    if (what === 'call') lines.push(...tell(a, depth + 1));
    else if (what === 'line') lines.push(`${pad}  :${a}`);
    else if (what === 'write') lines.push(`${pad}  ${a} = ${shown(b)}`);
    else lines.push(`${pad}  ${what}${a === undefined && what !== 'yield' ? '' : ` ${shown(a)}`}`);
  }
  lines.push(`${pad}  ${call.end} ${shown(call.result)}`);
  return lines;
}
