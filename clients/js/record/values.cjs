// Values as they are seen from outside: no getter, no proxy's trap, no method of the program is run.
// Every intrinsic is taken once at the start, so that a program which changes them later changes nothing here.
'use strict';

const { types } = require('node:util');
const { out, buf, u, s, big, text, flush } = require('./stream.cjs');

const { isProxy, isDate, isRegExp, isMap, isSet, isNativeError, isPromise, isArgumentsObject, isAnyArrayBuffer } = types;
const { isTypedArray, isModuleNamespaceObject } = types;
const { getOwnPropertyDescriptor, getPrototypeOf, apply } = Reflect;
const { isArray } = Array;
const { keys: keysOf } = Object;
const mapSize = getOwnPropertyDescriptor(Map.prototype, 'size').get;
const setSize = getOwnPropertyDescriptor(Set.prototype, 'size').get;
const { entries: mapEntries } = Map.prototype;
const { values: setValues } = Set.prototype;
const { next: mapNext } = getPrototypeOf(new Map().entries());
const { next: setNext } = getPrototypeOf(new Set().values());
const { toISOString, getTime } = Date.prototype;
const source = getOwnPropertyDescriptor(RegExp.prototype, 'source').get;
const flagsOf = getOwnPropertyDescriptor(RegExp.prototype, 'flags').get;
const description = getOwnPropertyDescriptor(Symbol.prototype, 'description').get;
const typedLength = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), 'length').get;
const typedTag = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
const bigText = BigInt.prototype.toString;
const { slice } = String.prototype;
const { get: weakGet, set: weakSet } = WeakMap.prototype;
const { get: mapGet, set: mapSet } = Map.prototype;
const { isInteger } = Number;
const { imul } = Math;
const theGlobal = globalThis;
const objectProto = Object.prototype;

// Small integers have their numbers in an array.
const LOW = -1024;
const HIGH = 65_536;
// A table with more is begun again: the same value is then told once more.
const KNOWN_MAX = 200_000;
// A longer text is looked into only as long as the run can afford it: it may be a rope, which reading makes flat.
const LONG = 2048;
const HUGE = 10n ** 200n;

// As in `frames.cjs`: it keeps a function out of its callers.
const APART = false;
let bin;

const small = new Int32Array(HIGH - LOW).fill(-1);
// Other numbers stand at the place that their bits name, or in the one beside it: what comes later takes the place of what was
// there, which is then told once more when it is seen again.
const PLACES = 65_536;
const placed = new Float64Array(PLACES).fill(NaN);
const placedAt = new Int32Array(PLACES);
const bits = new Float64Array(1);
const halves = new Int32Array(bits.buffer);
const bytes = new Uint8Array(bits.buffer);
let strings = table();
const names = table();
let secretMarks = table();
const objects = weakTable();
const protos = weakTable();
let count = 0;
let nameCount = 0;
let objectCount = 0;
let theNull = -1;
let theUndefined = -1;
let theTrue = -1;
let theFalse = -1;
let theNan = -1;
let theMinusZero = -1;
let poor = false;

// Tables whose methods are their own: a program that changes those of all maps does not change these.
function table() {
  const made = new Map();
  made.get = mapGet;
  made.set = mapSet;
  made.held = 0;
  return made;
}

function weakTable() {
  const made = new WeakMap();
  made.get = weakGet;
  made.set = weakSet;
  return made;
}

const rules = { text: 200, items: 5, fields: 8, depth: 2, purse: 0, weight: () => 0, isSecret: () => false, conceal: (t) => t, mark: null };

function begin() {
  const number = count;
  count += 1;
  buf[out.pos++] = 0x05;
  return number;
}

// The number of a name or type in the stream.
function name(t) {
  let number = names.get(t);
  if (number === undefined) {
    if (t.length > 1000) t = apply(slice, t, [0, 1000]);
    buf[out.pos++] = 0x02;
    text(t);
    number = nameCount;
    nameCount += 1;
    names.set(t, number);
  }
  return number;
}

// The number of a value in the stream. Whole records only are in the buffer when this is called, and when it returns.
function value(v) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  switch (typeof v) {
    case 'number':
      if ((v | 0) === v && v >= LOW && v < HIGH && (v !== 0 || 1 / v > 0)) {
        const known = small[v - LOW];
        if (known >= 0) return known;
      }
      return number(v);
    case 'string':
      return string(v);
    case 'boolean':
      return v ? (theTrue >= 0 ? theTrue : (theTrue = plain(2))) : theFalse >= 0 ? theFalse : (theFalse = plain(3));
    case 'undefined':
      if (v === undefined) return theUndefined >= 0 ? theUndefined : (theUndefined = plain(1));
      return object(v, 0);
    case 'object':
      if (v === null) return theNull >= 0 ? theNull : (theNull = plain(0));
      return object(v, 0);
    default:
      return rare(v, 0);
  }
}

function plain(kind) {
  const number = begin();
  buf[out.pos++] = kind;
  return number;
}

function number(v) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  if (v !== v) return theNan >= 0 ? theNan : (theNan = written(v));
  if (v === 0) return 1 / v > 0 ? (small[-LOW] = written(v)) : theMinusZero >= 0 ? theMinusZero : (theMinusZero = written(v));
  bits[0] = v;
  const place = imul(halves[0] ^ imul(halves[1], 0x85ebca6b), 0x9e3779b1) >>> 16;
  if (placed[place] === v) return placedAt[place];
  const beside = place ^ 1;
  if (placed[beside] === v) return placedAt[beside];
  const made = written(v);
  if (v >= LOW && v < HIGH && (v | 0) === v) {
    small[v - LOW] = made;
    return made;
  }
  // The older one of the two goes.
  const free = placedAt[beside] < placedAt[place] ? beside : place;
  placed[free] = v;
  placedAt[free] = made;
  return made;
}

function written(v) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  if (out.pos > out.full) flush();
  const made = begin();
  if (isInteger(v) && v <= 9007199254740991 && v >= -9007199254740991 && (v !== 0 || 1 / v > 0)) {
    buf[out.pos++] = 4;
    s(v);
  } else {
    buf[out.pos++] = 6;
    bits[0] = v;
    for (let at = 0; at < 8; at += 1) buf[out.pos++] = bytes[at];
  }
  return made;
}

function string(v) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  const length = v.length;
  if (length <= rules.text) {
    const known = strings.get(v);
    if (known !== undefined) return known;
  }
  if (!out.roomy()) return unknown();
  if (length > rules.text) return longString(v, length);
  if (out.pos > out.full) flush();
  const shown = length < 10 ? v : rules.conceal(v);
  const made = shown === null ? secret('string', v) : writeString(shown, length);
  if (++strings.held > KNOWN_MAX) strings = table();
  strings.set(v, made);
  return made;
}

function writeString(v, length) {
  const made = begin();
  buf[out.pos++] = 7;
  u(length);
  text(v);
  return made;
}

function longString(v, length) {
  if (out.pos > out.full) flush();
  if (length > LONG) {
    const price = length >>> 4;
    if (rules.purse < price) return outside('string');
    rules.purse -= price;
  }
  // A secret may stand across the cut.
  const shown = rules.conceal(apply(slice, v, [0, rules.text * 4]));
  if (shown === null) return secret('string', v);
  return writeString(apply(slice, shown, [0, rules.text]), length);
}

// A value of which nothing but its kind is told.
function outside(type) {
  poor = true;
  const t = name(type);
  const made = begin();
  buf[out.pos++] = 15;
  u(objectCount);
  objectCount += 1;
  u(t);
  return made;
}

function secret(type, v) {
  const shown = typeof v === 'string' ? v : `${v}`;
  const t = name(type);
  const made = begin();
  buf[out.pos++] = 14;
  u(t);
  u(shown.length);
  buf[out.pos++] = 2;
  let mark = secretMarks.get(shown);
  if (mark === undefined) {
    mark = rules.mark(shown);
    if (++secretMarks.held > 10_000) secretMarks = table();
    secretMarks.set(shown, mark);
  }
  buf[out.pos++] = mark & 255;
  buf[out.pos++] = mark >>> 8;
  return made;
}

// A value under a name that says it is a secret (2), or may be one (1).
function hidden(v, by) {
  if (!out.roomy()) return unknown();
  if (out.pos > out.full) flush();
  if (typeof v === 'string') return rules.isSecret(by, v) ? secret('string', v) : value(v);
  if (by === 2 && (typeof v === 'number' || typeof v === 'bigint')) return secret(typeof v, v);
  if (by === 2 && typeof v === 'object' && v !== null) return secret('object', '');
  return value(v);
}

// What could not be looked at where the program's stack ends.
let theUnknown = -1;
function unknown() {
  poor = true;
  if (theUnknown < 0) {
    const type = name('unknown');
    const empty = name('');
    theUnknown = begin();
    buf[out.pos++] = 13;
    u(type);
    u(empty);
  }
  return theUnknown;
}

function rare(v, depth) {
  if (out.pos > out.full) flush();
  if (typeof v === 'function') return callable(v);
  if (typeof v === 'symbol') {
    const type = name('symbol');
    const called = name(apply(description, v, []) ?? '');
    const made = begin();
    buf[out.pos++] = 13;
    u(type);
    u(called);
    return made;
  }
  if (typeof v === 'bigint') return integer(v);
  return object(v, depth);
}

function integer(v) {
  if (v >= HUGE || v <= -HUGE) return outside('bigint');
  const made = begin();
  if (BigInt.asIntN(64, v) === v) {
    buf[out.pos++] = 4;
    big(v);
  } else {
    buf[out.pos++] = 5;
    // At most 200 digits and a sign.
    text(apply(bigText, v, []));
  }
  return made;
}

function callable(v) {
  let kept = objects.get(v);
  if (kept === undefined) {
    let called = '';
    if (!isProxy(v)) {
      const own = getOwnPropertyDescriptor(v, 'name');
      if (own !== undefined && typeof own.value === 'string') called = own.value;
    }
    const type = name(isProxy(v) ? 'Proxy' : 'function');
    const shown = name(called);
    kept = { id: -1, form: -1, type: 0, outside: -1, last: begin(), kind: 0, size: 0, items: null };
    buf[out.pos++] = 13;
    u(type);
    u(shown);
    objects.set(v, kept);
  }
  return kept.last;
}

function seen(v, what) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  let kept = objects.get(v);
  if (kept === undefined) {
    const type = name(TYPES[what] ?? (v === theGlobal ? 'global' : typeOf(v).name));
    kept = { id: objectCount, form: what, type, outside: -1, last: -1, kind: 0, size: 0, items: null };
    objectCount += 1;
    objects.set(v, kept);
  }
  return kept;
}

// The name of the constructor, where it is plain data.
const noProto = { name: 'Object: null', made: -1 };
function typeOf(v) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  const proto = getPrototypeOf(v);
  if (proto === null) return noProto;
  // Mostly it is one of the last two.
  if (proto === protoOne) return kindOne;
  if (proto === protoTwo) return kindTwo;
  protoTwo = protoOne;
  kindTwo = kindOne;
  protoOne = proto;
  kindOne = protos.get(proto);
  if (kindOne === undefined) kindOne = looked(proto);
  return kindOne;
}

let protoOne = null;
let kindOne = noProto;
let protoTwo = null;
let kindTwo = noProto;

function looked(proto) {
  const first = proto;
  let found = 'Object';
  for (let up = 0; up < 5 && proto !== null && !isProxy(proto); up += 1) {
    const own = getOwnPropertyDescriptor(proto, 'constructor');
    if (own !== undefined) {
      if (typeof own.value === 'function' && !isProxy(own.value)) {
        const called = getOwnPropertyDescriptor(own.value, 'name');
        if (called !== undefined && typeof called.value === 'string' && called.value !== '') found = called.value;
      }
      break;
    }
    proto = getPrototypeOf(proto);
  }
  const made = { name: found, made: -1 };
  protos.set(first, made);
  return made;
}

function inner(v, depth) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  switch (typeof v) {
    case 'object':
      if (v === null) return value(v);
      return object(v, depth);
    case 'function':
    case 'symbol':
    case 'bigint':
      return rare(v, depth);
    default:
      return value(v);
  }
}

function object(v, depth) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  if (depth === 0 && !out.roomy()) return unknown();
  if (out.pos > out.full) flush();
  const kept = objects.get(v);
  // A process that ran out of it tells which object it was, and no more; of one that is new to it, the type.
  if (rules.purse < 24) {
    poor = true;
    return kept === undefined ? typed(v) : outsideOf(kept);
  }
  if (kept === undefined) return look(v, depth, isProxy(v) ? 0 : form(v));
  return look(v, depth, kept.form);
}

// What an object is by the engine's own account, asked once.
function form(v) {
  if (isArray(v)) return 2;
  if (isNativeError(v)) return 3;
  if (isTypedArray(v)) return 4;
  if (isMap(v)) return 5;
  if (isSet(v)) return 6;
  if (isDate(v)) return 7;
  if (isRegExp(v)) return 8;
  if (isPromise(v) || isAnyArrayBuffer(v) || isModuleNamespaceObject(v) || v === theGlobal) return 9;
  if (isArgumentsObject(v)) return 10;
  return 1;
}

const TYPES = { 0: 'Proxy', 10: 'Arguments' };

function look(v, depth, what) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  const kept = seen(v, what);
  if (depth >= rules.depth || what === 0 || what === 9) return outsideOf(kept);
  rules.purse -= 6;
  switch (what) {
    case 2:
    case 10:
      return list(v, kept, depth);
    case 3:
      return fault(v, kept);
    case 4:
      return numbersOf(v, kept);
    case 5:
      return map(v, kept, depth);
    case 6:
      return set(v, kept, depth);
    case 7:
      return told(kept, [['iso', date(v)]]);
    case 8:
      return told(kept, [['source', apply(source, v, [])], ['flags', apply(flagsOf, v, [])]]);
    default:
      return fields(v, kept, depth);
  }
}

// The type alone, of an object that has no number.
let theProxy = null;
function typed(v) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  const kind = isProxy(v) ? (theProxy ??= { name: 'Proxy', made: -1 }) : typeOf(v);
  if (kind.made < 0) {
    const shown = name(kind.name);
    const empty = name('');
    kind.made = begin();
    buf[out.pos++] = 13;
    u(shown);
    u(empty);
  }
  return kind.made;
}

function date(v) {
  const time = apply(getTime, v, []);
  return time === time ? apply(toISOString, v, []) : 'Invalid Date';
}

// Identity and type alone.
function outsideOf(kept) {
  if (kept.outside < 0) {
    kept.outside = begin();
    buf[out.pos++] = 15;
    u(kept.id);
    u(kept.type);
  }
  return kept.outside;
}

// Whether the object is as it was when it was last told; else it is told anew.
function same(kept, kind, size, items) {
  const before = kept.items;
  if (before === null || kept.kind !== kind || kept.size !== size || before.length !== items.length) return false;
  for (let at = 0; at < items.length; at += 1) if (before[at] !== items[at]) return false;
  return true;
}

function tell(kept, kind, size, items, pairs) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  if (same(kept, kind, size, items)) return kept.last;
  if (out.pos > out.full) flush();
  kept.kind = kind;
  kept.size = size;
  kept.items = items;
  kept.last = begin();
  buf[out.pos++] = kind;
  u(kept.id);
  u(kept.type);
  u(size);
  u(pairs ? items.length >>> 1 : items.length);
  for (let at = 0; at < items.length; at += 1) u(items[at]);
  return kept.last;
}

function list(v, kept, depth) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  const own = getOwnPropertyDescriptor(v, 'length');
  const size = own !== undefined && typeof own.value === 'number' && own.value >= 0 ? own.value : 0;
  const items = [];
  for (let at = 0; at < size && at < rules.items; at += 1) {
    const item = getOwnPropertyDescriptor(v, at);
    rules.purse -= 2;
    items[at] = item === undefined || item.get !== undefined || item.set !== undefined ? value(undefined) : inner(item.value, depth + 1);
  }
  return tell(kept, 9, size, items, false);
}

function numbersOf(v, kept) {
  const size = apply(typedLength, v, []);
  const tag = apply(typedTag, v, []);
  if (tag === 'Uint8Array') {
    const made = begin();
    buf[out.pos++] = 8;
    u(size);
    const n = size < 200 ? size : 200;
    u(n);
    for (let at = 0; at < n; at += 1) buf[out.pos++] = v[at];
    return made;
  }
  const items = [];
  for (let at = 0; at < size && at < rules.items; at += 1) items[at] = value(v[at]);
  return tell(kept, 9, size, items, false);
}

function map(v, kept, depth) {
  const iterator = apply(mapEntries, v, []);
  const items = [];
  for (let at = 0; at < rules.items; at += 1) {
    const step = apply(mapNext, iterator, []);
    if (step.done) break;
    rules.purse -= 3;
    const key = step.value[0];
    items[2 * at] = inner(key, depth + 1);
    items[2 * at + 1] = typeof key === 'string' && rules.weight(key) > 0 ? hidden(step.value[1], rules.weight(key)) : inner(step.value[1], depth + 1);
  }
  return tell(kept, 10, apply(mapSize, v, []), items, true);
}

function set(v, kept, depth) {
  const iterator = apply(setValues, v, []);
  const items = [];
  for (let at = 0; at < rules.items; at += 1) {
    const step = apply(setNext, iterator, []);
    if (step.done) break;
    rules.purse -= 2;
    items[at] = inner(step.value, depth + 1);
  }
  return tell(kept, 9, apply(setSize, v, []), items, false);
}

function told(kept, pairs) {
  const items = [];
  for (let at = 0; at < pairs.length; at += 1) {
    items[2 * at] = name(pairs[at][0]);
    items[2 * at + 1] = value(pairs[at][1]);
  }
  return tell(kept, 11, pairs.length, items, true);
}

function fields(v, kept, depth) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  const keys = keysOf(v);
  const items = [];
  let size = keys.length;
  let n = 0;
  if (size > 64) rules.purse -= size >>> 3;
  for (let at = 0; at < keys.length && n < rules.fields * 2; at += 1) {
    const key = keys[at];
    const own = getOwnPropertyDescriptor(v, key);
    rules.purse -= 2;
    if (own === undefined) {
      size -= 1;
      continue;
    }
    items[n++] = name(key);
    if (own.get !== undefined || own.set !== undefined) items[n++] = accessor();
    else if (rules.weight(key) > 0) items[n++] = hidden(own.value, rules.weight(key));
    else items[n++] = inner(own.value, depth + 1);
  }
  return tell(kept, 11, size, items, true);
}

// A field that would have to be called to be known.
let theAccessor = -1;
function accessor() {
  if (theAccessor < 0) {
    const type = name('accessor');
    const empty = name('');
    theAccessor = begin();
    buf[out.pos++] = 13;
    u(type);
    u(empty);
  }
  return theAccessor;
}

function fault(v, kept) {
  const own = getOwnPropertyDescriptor(v, 'message');
  let message = own !== undefined && typeof own.value === 'string' ? own.value : '';
  if (message.length > rules.text) message = apply(slice, message, [0, rules.text]);
  if (kept.items === message) return kept.last;
  const bases = [];
  let proto = getPrototypeOf(v);
  for (let up = 0; up < 6 && proto !== null && !isProxy(proto); up += 1) {
    proto = getPrototypeOf(proto);
    if (proto === null || proto === objectProto) break;
    const called = getOwnPropertyDescriptor(proto, 'constructor')?.value;
    const base = typeof called === 'function' && !isProxy(called) ? getOwnPropertyDescriptor(called, 'name')?.value : undefined;
    if (typeof base === 'string') bases[bases.length] = name(base);
  }
  kept.items = message;
  message = rules.conceal(message) ?? '';
  kept.last = begin();
  buf[out.pos++] = 12;
  u(kept.id);
  u(kept.type);
  text(message);
  u(bases.length);
  for (let at = 0; at < bases.length; at += 1) u(bases[at]);
  return kept.last;
}

// Whether anything was left out since this was last asked.
function wasPoor() {
  const was = poor;
  poor = false;
  return was;
}

module.exports = { value, hidden, name, rules, table, wasPoor };
