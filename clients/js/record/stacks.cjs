// What the probes would show of themselves: columns in stacks, and the texts of functions. Both are given back as they are in
// the file. Lines need nothing: no probe adds one.
'use strict';

const { apply } = Reflect;
const texts = require('./texts.cjs');

function mend(realm) {
  columns(realm);
  functionTexts(realm);
}

// Where something was put into the line: columns of the original, from 0, and lengths.
function pieces(about) {
  if (about.pieces !== null) return about.pieces;
  const starts = [0];
  for (const found of about.source.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) starts.push(found.index + found[0].length);
  const numbers = about.places === '' ? [] : about.places.split(',').map(Number);
  const at = [];
  let offset = 0;
  for (let n = 0; n + 1 < numbers.length; n += 2) {
    offset += numbers[n];
    at.push([offset, numbers[n + 1]]);
  }
  about.pieces = { starts, at };
  return about.pieces;
}

// The offset in the original of one in the instrumented text.
function back(about, offset) {
  let added = 0;
  for (const [place, length] of pieces(about).at) {
    if (offset < place + added) break;
    if (offset < place + added + length) return place;
    added += length;
  }
  return offset - added;
}

function column(about, line, col) {
  const { starts, at } = pieces(about);
  const start = starts[line - 1];
  const next = starts[line] ?? Infinity;
  if (start === undefined) return col;
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle][0] < start) low = middle + 1;
    else high = middle;
  }
  let added = 0;
  for (let n = low; n < at.length && at[n][0] < next; n += 1) {
    const place = at[n][0] - start;
    if (col - 1 < place + added) break;
    if (col - 1 < place + added + at[n][1]) return place + 1;
    added += at[n][1];
  }
  return col - added;
}

function aboutOf(name) {
  if (typeof name !== 'string') return undefined;
  const file = name.startsWith('file://') ? require('./loaders.cjs').fileOf(name) : name;
  if (!texts.files.has(file)) texts.state.onUnknown?.();
  return texts.files.get(file);
}

// As Node formats a stack where nobody else does, with the columns of the file. A program that formats its own (jest and
// vitest do) is handed frames that say the same.
function columns(realm) {
  if (mapsOn()) return;
  const { Error: Fault } = realm;
  const before = Object.getOwnPropertyDescriptor(Fault, 'prepareStackTrace')?.value;
  const { toString } = Fault.prototype;
  const mark = before === undefined ? nodeMark() : undefined;
  const format = (error, lines) => {
    const first = mark !== undefined && mark in error ? `${error.name} [${error.code}]: ${error.message}` : apply(toString, error, []);
    return [first, ...lines].join('\n    at ');
  };
  const wrapped = new WeakMap();
  const ours = function ErrorPrepareStackTrace(error, sites) {
    return (before ?? format)(error, Array.isArray(sites) ? theirs(sites).map(shown) : sites);
  };
  let set = ours;
  let given = before ?? undefined;
  Object.defineProperty(Fault, 'prepareStackTrace', {
    configurable: true,
    enumerable: false,
    get: () => set,
    set(value) {
      given = wrapped.get(value) ?? value;
      set = value === ours || value === before || value === undefined ? ours : value;
      if (typeof given !== 'function' || set === ours || wrapped.has(value)) return;
      const theirOwn = given;
      set = function prepareStackTrace(error, sites) {
        return apply(theirOwn, this, [error, Array.isArray(sites) ? theirs(sites).map(mended) : sites]);
      };
      wrapped.set(set, theirOwn);
    },
  });
}

function mapsOn() {
  return process.execArgv.includes('--enable-source-maps') || (process.env.NODE_OPTIONS ?? '').includes('--enable-source-maps');
}

// Without our own frames, which are no part of the program.
function theirs(sites) {
  return sites.filter((site) => !site.getFileName?.()?.startsWith(__dirname));
}

// A frame of an instrumented text that says the column of the file.
function mended(site) {
  const about = aboutOf(site.getFileName?.());
  if (about === undefined) return site;
  const methods = Object.create(null);
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(site))) {
    if (typeof site[name] === 'function' && name !== 'constructor') methods[name] = () => site[name]();
  }
  methods.getColumnNumber = () => column(about, site.getLineNumber(), site.getColumnNumber());
  methods.toString = () => shown(site);
  return Object.create(methods);
}

function shown(site) {
  const text = `${site}`;
  const about = aboutOf(site.getFileName());
  if (about === undefined) return text.replace('Module.<anonymous> (node:internal/modules/cjs', 'Module._compile (node:internal/modules/cjs');
  const col = column(about, site.getLineNumber(), site.getColumnNumber());
  return text.replace(/:\d+(\)?)$/, (_, close) => `:${col}${close}`);
}

// By this Node knows its own errors, whose code stands before their message.
function nodeMark() {
  try {
    process.chdir(1);
  } catch (error) {
    for (let up = error; up !== null; up = Object.getPrototypeOf(up)) {
      for (const symbol of Object.getOwnPropertySymbols(up)) if (symbol.description === 'kIsNodeError') return symbol;
    }
  }
  return undefined;
}

function functionTexts(realm) {
  const { toString } = realm.Function.prototype;
  const mended = {
    toString() {
      const text = apply(toString, this === mended ? toString : this, []);
      return text.includes('$hp.') || text.includes('$hpt(') ? original(text) : text;
    },
  }.toString;
  define(realm.Function.prototype, 'toString', mended);
}

// A function's text is a part of an instrumented one: the part of the original that it was made from.
function original(text) {
  const id = Number(/\$hp\.(?:c[0-4n]|g)\((\d+)/.exec(text)?.[1] ?? -1);
  for (const about of texts.files.values()) {
    // A woven text has no numbers of functions.
    if (about.made === null || (about.base !== undefined && (id < about.base || id >= about.base + about.count))) continue;
    const at = about.made.indexOf(text);
    if (at >= 0) return about.source.slice(back(about, at), back(about, at + text.length));
  }
  return text;
}

function define(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });
}

module.exports = { mend };
//# sourceURL=node:holdpoint/stacks
