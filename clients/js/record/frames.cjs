// The probes: what `crates/instrument` puts into a text calls one of these. They keep a stack of our own beside the program's,
// write what happened, and hand back what they were given. Their names are short because they stand in every line.
'use strict';

const { out, buf, u, ticks, flush, arm, json, s, text } = require('./stream.cjs');
const { value, hidden, name, rules, wasPoor } = require('./values.cjs');

const { slice } = String.prototype;
const { getOwnPropertyDescriptor, apply } = Reflect;
const { floor, min } = Math;
const { has } = Set.prototype;
const { set: copy } = Object.getPrototypeOf(Int32Array.prototype);
const { isProxy } = require('node:util').types;
const NONE = { none: true };
// Beyond this depth the program's own stack may be near its end, and a record must not be torn by that.
const DEEP = 200;
// A buffer that is this old at the next call goes out, in microseconds.
const OLD = 100_000;

// The engine puts what is shorter than 460 bytecodes into whatever calls it, and then compiles the same probes over and over: in
// a program of a tenth of a second that took a fifth of all its time. A line that is never run makes each long enough to stand alone.
const APART = false;
let bin;

let cap = 16_384;
let fnAt = new Int32Array(cap);
let lineAt = new Int32Array(cap);
let leftAt = new Int32Array(cap);
let startAt = new Int32Array(cap);
let skipAt = new Int32Array(cap);
// The number of its call in the stream, from 1; 0 when it has none.
let callAt = new Float64Array(cap);
// Frames that can be left and entered again.
const frameAt = [null];
const waiting = [];

let depth = 0;
let line = 0;
let left = 0;
let skipped = 0;
let hides = null;
let calls = 0;
let flying = NONE;
// 2 lines, 1 calls, 0 counts: no function is kept better than this.
let ceiling = 2;
let events = 0;

// By the number of a function in this process; all grow together.
let fns = 1024;
let fnNumber = new Int32Array(fns);
let fnLevel = new Uint8Array(fns);
let fnLeft = new Int32Array(fns);
let fnCalls = new Float64Array(fns);
let fnMissed = new Float64Array(fns);
let fnFirst = new Int32Array(fns);
let fnTest = [];
let fnHides = [];

// What was last thrown by the program's own text, and where.
const thrown = { error: undefined, fn: 0, line: 0, column: 0 };

const plan = { saidPoor: false, limits: null, auto: true, level: 2, focus: null, define: null, numbers: 0 };

function grow() {
  cap *= 2;
  const wider = (old, Kind) => {
    const made = new Kind(cap);
    apply(copy, made, [old]);
    return made;
  };
  fnAt = wider(fnAt, Int32Array);
  lineAt = wider(lineAt, Int32Array);
  leftAt = wider(leftAt, Int32Array);
  startAt = wider(startAt, Int32Array);
  skipAt = wider(skipAt, Int32Array);
  callAt = wider(callAt, Float64Array);
}

function growFns(id) {
  while (fns <= id) fns *= 2;
  const wider = (old, Kind) => {
    const made = new Kind(fns);
    apply(copy, made, [old]);
    return made;
  };
  fnNumber = wider(fnNumber, Int32Array);
  fnLevel = wider(fnLevel, Uint8Array);
  fnLeft = wider(fnLeft, Int32Array);
  fnCalls = wider(fnCalls, Float64Array);
  fnMissed = wider(fnMissed, Float64Array);
  fnFirst = wider(fnFirst, Int32Array);
}

// What the program has put in place of a builtin may be recorded itself: while we use builtins, nothing is.
let busy = false;

function quietly(work) {
  const was = busy;
  busy = true;
  try {
    return work();
  } finally {
    busy = was;
  }
}

function define(id) {
  if (depth > DEEP) reserve(500, 1, 2, 3, 4, 5, 6, 7, 8);
  quietly(() => defined(id));
}

// The function's record, when it is first called.
function defined(id) {
  if (fns <= id) growFns(id);
  const row = plan.define(id);
  if (row === undefined) {
    fnNumber[id] = -1;
    fnLevel[id] = 0;
    return;
  }
  const whole = apply(has, plan.focus, [row.qualified]) || apply(has, plan.focus, [row.name]);
  fnLevel[id] = whole ? 2 : plan.level;
  fnLeft[id] = whole || !plan.auto ? 2147483647 : min(2147483647, floor(plan.limits.events * plan.limits.share));
  fnFirst[id] = row.first;
  fnTest[id] = row.test ?? undefined;
  const secret = [];
  const slots = [];
  let hiding = false;
  for (let at = 0; at < row.slots.length; at += 1) {
    secret[at] = rules.weight(row.slots[at]);
    hiding ||= secret[at] > 0;
  }
  fnHides[id] = hiding ? secret : null;
  const called = name(row.name);
  const qualified = name(row.qualified);
  for (let at = 0; at < row.slots.length; at += 1) slots[at] = name(row.slots[at]);
  const file = row.file();
  buf[out.pos++] = 0x04;
  u(called);
  u(qualified);
  u(file);
  u(row.first);
  u(row.last);
  u(row.flags);
  u(row.parameters);
  u(slots.length);
  for (let at = 0; at < slots.length; at += 1) u(slots[at]);
  plan.numbers += 1;
  fnNumber[id] = plan.numbers;
}

function lower(id, level, why) {
  fnLevel[id] = level;
  if (fnNumber[id] <= 0) return;
  buf[out.pos++] = 0x1a;
  u(fnNumber[id] - 1);
  u(level);
  text(why);
}

// How this call is kept, and how many lines and writes of it.
function plans(id) {
  if (id >= fns || fnNumber[id] === 0) define(id);
  const n = (fnCalls[id] += 1);
  let level = fnLevel[id];
  if (level === 2 && ceiling === 2 && fnLeft[id] > 0) return 2;
  if (level === 2 && fnLeft[id] <= 0 && n > plan.limits.whole_calls) {
    lower(id, 1, 'lines');
    level = 1;
  }
  if (level === 1 && n > plan.limits.calls && plan.auto) {
    lower(id, 0, 'calls');
    level = 0;
  }
  if (level > ceiling) level = ceiling;
  if (level === 0 && (n & (n - 1)) === 0 && ceiling > 0 && fnNumber[id] > 0) {
    missed(id);
    level = 1;
  }
  return level;
}

function missed(id) {
  if (fnMissed[id] === 0) return;
  buf[out.pos++] = 0x1b;
  u(fnNumber[id] - 1);
  u(fnMissed[id]);
  fnMissed[id] = 0;
}

// Uses more of the program's stack than any probe does: where there is not enough, it fails here, as the call itself would.
function reserve(n, a, b, c, d, e, f, g, h) {
  if (n === 0) return a;
  return reserve(n - 1, b, c, d, e, f, g, h, a) + 1;
}

// Asked before anything that takes many frames: looking into values, writing.
out.roomy = () => {
  if (depth <= DEEP) return true;
  try {
    reserve(500, 1, 2, 3, 4, 5, 6, 7, 8);
    return true;
  } catch {
    return false;
  }
};

function push(id, level) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  if (depth > 0) {
    lineAt[depth] = line;
    leftAt[depth] = left;
    skipAt[depth] = skipped;
  }
  depth += 1;
  if (depth >= cap - 1) grow();
  fnAt[depth] = id;
  line = fnFirst[id];
  skipped = 0;
  hides = fnHides[id] ?? null;
  if (level === 2) {
    const allowed = fnLeft[id];
    left = allowed > 0 ? allowed : fnCalls[id] <= plan.limits.whole_calls ? 10_000 : 0;
  } else {
    left = 0;
  }
  startAt[depth] = left;
  callAt[depth] = 0;
  if (level === 0) fnMissed[id] += 1;
}

// Apart from what is called at every call: a closure there would cost each of them.
function begins(id) {
  quietly(() => json(0x09, { name: fnTest[id], phase: 'begin' }));
}

// Begins a frame: what it was given is numbered by then.
function enter(id, level) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  push(id, level);
  if (level === 0) return false;
  calls += 1;
  callAt[depth] = calls;
  events += 1;
  if (fnTest[id] !== undefined) begins(id);
  buf[out.pos++] = 0x10;
  u(fnNumber[id] - 1);
  ticks();
  return true;
}

function given(id, at, v) {
  const secret = fnHides[id];
  return secret != null && secret[at] > 0 ? hidden(v, secret[at]) : value(v);
}

// Back to the frame below: its line, and what it may still tell.
function pop() {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  const id = fnAt[depth];
  const used = startAt[depth] - left;
  if (used > 0) {
    fnLeft[id] -= used;
    events += used;
    rules.purse += used >> 3;
  }
  frameAt[depth] = null;
  depth -= 1;
  if (depth > 0) {
    line = lineAt[depth];
    left = leftAt[depth];
    skipped = skipAt[depth];
    hides = fnHides[fnAt[depth]] ?? null;
  } else {
    left = 0;
    hides = null;
  }
}

// What was not told of the top frame, and where it stands now.
function gap() {
  if (skipped > 0 && callAt[depth] > 0) {
    buf[out.pos++] = 0x1e;
    u(skipped);
    skipped = 0;
    buf[out.pos++] = 0x1f;
    u(line);
  }
}

// The frames above this one ended without a word: an exception passed them where nobody looked.
function settle(d) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  while (depth > d) {
    const frame = frameAt[depth];
    if (frame != null && !frame.done) {
      leave(frame, value(undefined), 0x12);
      continue;
    }
    if (callAt[depth] > 0) {
      const n = value(flying === NONE ? undefined : flying);
      gap();
      buf[out.pos++] = 0x15;
      u(n);
      ticks();
    }
    pop();
  }
}

function cut(message) {
  return apply(slice, message, [0, 500]);
}

function tested(id, failed, v) {
  const ended = { name: fnTest[id], phase: 'end' };
  if (failed) {
    ended.outcome = 'failed';
    const message = typeof v === 'object' && v !== null && !isProxy(v) ? getOwnPropertyDescriptor(v, 'message')?.value : v;
    if (typeof message === 'string') ended.message = rules.conceal(message.length > 500 ? cut(message) : message) ?? '';
  } else if (!(typeof v === 'object' && v !== null)) {
    // What returns an object may be a promise that has yet to fail.
    ended.outcome = 'passed';
  }
  quietly(() => json(0x09, ended));
  // Runners end their workers without a word.
  flush();
}

// The top frame ends with a value.
function returns(v) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  if (callAt[depth] > 0) {
    const n = value(v);
    gap();
    buf[out.pos++] = 0x11;
    u(n);
    ticks();
    if (fnTest[fnAt[depth]] !== undefined) tested(fnAt[depth], false, v);
  }
  pop();
}

// The top frame ends by an exception.
function unwinds(e) {
  if (callAt[depth] > 0) {
    const n = value(e);
    gap();
    if (e !== flying) raise(n);
    buf[out.pos++] = 0x15;
    u(n);
    ticks();
    flying = e;
    if (fnTest[fnAt[depth]] !== undefined) tested(fnAt[depth], true, e);
  }
  pop();
}

function raise(n) {
  // A frame of which the lines are not kept says where this was all the same.
  if (startAt[depth] === 0) {
    buf[out.pos++] = 0x1f;
    u(line);
  }
  buf[out.pos++] = 0x14;
  u(n);
}

function handled(e) {
  if (callAt[depth] > 0) {
    const n = value(e);
    gap();
    if (e !== flying) raise(n);
    buf[out.pos++] = 0x16;
    u(n);
  }
  flying = NONE;
}

function room() {
  if (out.pos > out.full || out.tick - out.since > OLD) flush();
  if (!out.armed) arm();
}

function enough(id) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  if (busy) {
    if (id >= fns) growFns(id);
    return 0;
  }
  if (depth > DEEP) reserve(20, 1, 2, 3, 4, 5, 6, 7, 8);
  room();
  return plans(id);
}

// ---- Frames that can be left and entered again.

function leave(frame, n, op) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  if (callAt[depth] > 0) {
    gap();
    buf[out.pos++] = op;
    u(n);
    ticks();
  }
  frame.line = line;
  frame.level = startAt[depth] > 0 ? 2 : callAt[depth] > 0 ? 1 : 0;
  frame.skipped = skipped;
  frame.at = 0;
  pop();
}

// The frame is the top one, whatever happened since it was last heard of.
function ensure(frame) {
  if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
  if (frame.at === depth && frameAt[depth] === frame) return true;
  if (frame.done) return false;
  if (frame.at > 0 && frame.at < depth && frameAt[frame.at] === frame) {
    settle(frame.at);
    return true;
  }
  room();
  push(frame.id, frame.level);
  if (frame.level === 0) fnMissed[frame.id] -= 1;
  line = frame.line;
  skipped = frame.skipped;
  callAt[depth] = frame.call;
  frame.at = depth;
  frameAt[depth] = frame;
  if (frame.call > 0) {
    buf[out.pos++] = 0x13;
    u(calls - frame.call + 1);
    ticks();
  }
  return true;
}

const probes = {
  // A call begins: without parameters, with one to four, with more.
  c0(id) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    enter(id, enough(id));
    return depth;
  },
  c1(id, a) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    const level = enough(id);
    if (level === 0) return enter(id, 0), depth;
    const x = given(id, 0, a);
    enter(id, level);
    u(x);
    return depth;
  },
  c2(id, a, b) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    const level = enough(id);
    if (level === 0) return enter(id, 0), depth;
    const x = given(id, 0, a);
    const y = given(id, 1, b);
    enter(id, level);
    u(x);
    u(y);
    return depth;
  },
  c3(id, a, b, c) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    const level = enough(id);
    if (level === 0) return enter(id, 0), depth;
    const x = given(id, 0, a);
    const y = given(id, 1, b);
    const z = given(id, 2, c);
    enter(id, level);
    u(x);
    u(y);
    u(z);
    return depth;
  },
  c4(id, a, b, c, d) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    const level = enough(id);
    if (level === 0) return enter(id, 0), depth;
    const x = given(id, 0, a);
    const y = given(id, 1, b);
    const z = given(id, 2, c);
    const w = given(id, 3, d);
    enter(id, level);
    u(x);
    u(y);
    u(z);
    u(w);
    return depth;
  },
  cn(id, all) {
    const level = enough(id);
    if (level === 0) return enter(id, 0), depth;
    const numbers = [];
    for (let at = 0; at < all.length; at += 1) numbers[at] = given(id, at, all[at]);
    enter(id, level);
    for (let at = 0; at < numbers.length; at += 1) u(numbers[at]);
    return depth;
  },
  // It returns; it returns when all `finally` have run; it unwinds.
  r(d, v) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    if (depth !== d) {
      if (depth < d) return v;
      settle(d);
    }
    returns(v);
    return v;
  },
  q(d, v) {
    waiting[d] = v;
    return v;
  },
  x(d) {
    if (depth < d) return;
    settle(d);
    const v = waiting[d];
    waiting[d] = undefined;
    returns(v);
  },
  u(d, e) {
    if (depth < d) return e;
    if (depth > d) settle(d);
    unwinds(e);
    return e;
  },
  // An exception is caught, is thrown.
  k(d, e) {
    if (depth > d) settle(d);
    if (depth === d) handled(e);
  },
  t(e, at, col) {
    thrown.error = e;
    thrown.fn = fnAt[depth];
    thrown.line = at;
    thrown.column = col;
    if (callAt[depth] > 0 && depth > 0) {
      const n = value(e);
      gap();
      raise(n);
      flying = e;
    }
    return e;
  },
  // A line is reached.
  l(n) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    const d = n - line;
    line = n;
    if (left > 0) {
      left -= 1;
      if (d >= -64 && d < 64) {
        buf[out.pos++] = 0xc0 + d;
      } else {
        buf[out.pos++] = 0x1d;
        s(d);
      }
      if (out.pos > out.full) flush();
    } else {
      skipped += 1;
    }
  },
  // A value was written.
  w(slot, v) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    if (left > 0) {
      left -= 1;
      const n = hides !== null && hides[slot] > 0 ? hidden(v, hides[slot]) : value(v);
      if (slot < 64) {
        buf[out.pos++] = 0x40 + slot;
      } else {
        buf[out.pos++] = 0x17;
        u(slot);
      }
      u(n);
    } else {
      skipped += 1;
    }
    return v;
  },
  // `i++`, `i--`: what is given is the value before.
  p(slot, v) {
    probes.w(slot, typeof v === 'bigint' ? v + 1n : v + 1);
    return v;
  },
  o(slot, v) {
    probes.w(slot, typeof v === 'bigint' ? v - 1n : v - 1);
    return v;
  },
  // A container may have been changed in place.
  m(slot, from, ...keys) {
    const found = container(from, keys);
    if (found !== undefined) probes.w(slot, found);
  },
  // The first of several.
  s(v) {
    return v;
  },

  g(id, all) {
    const level = enough(id);
    const numbers = [];
    if (level > 0) for (let at = 0; at < all.length; at += 1) numbers[at] = given(id, at, all[at]);
    enter(id, level);
    for (let at = 0; at < numbers.length; at += 1) u(numbers[at]);
    const frame = { id, call: callAt[depth], level, line, skipped: 0, at: depth, done: false, has: false, pending: undefined };
    frameAt[depth] = frame;
    return frame;
  },
  gl(frame, n) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    if (ensure(frame)) probes.l(n);
  },
  gr(frame, v) {
    if (ensure(frame)) {
      frame.done = true;
      returns(v);
    }
    return v;
  },
  gq(frame, v) {
    frame.pending = v;
    return v;
  },
  gx(frame) {
    if (frame.done) return;
    if (ensure(frame)) {
      frame.done = true;
      returns(frame.pending);
    }
  },
  gu(frame, e) {
    if (ensure(frame)) {
      frame.done = true;
      unwinds(e);
    }
    return e;
  },
  gk(frame, e) {
    if (ensure(frame)) handled(e);
  },
  gf(frame) {
    ensure(frame);
  },
  // It leaves with a value, and is there again.
  y(frame, v) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    if (ensure(frame)) leave(frame, value(v), 0x12);
    return v;
  },
  z(frame, v) {
    if (APART) [bin, bin, bin, bin, bin, bin, bin, bin, bin] = [];
    ensure(frame);
    return v;
  },
  // What `for await` goes over: it leaves the frame after each step that is asked for.
  i(frame, iterable) {
    return awaited(frame, iterable, probes);
  },
};

const { awaited } = require('./awaited.cjs');
const { container } = require('./changes.cjs');

// At each chunk: what the whole run may keep.
out.onFlush = () => {
  const { limits } = plan;
  if (limits === null || ceiling === 0) return;
  if (wasPoor() && !plan.saidPoor) {
    plan.saidPoor = true;
    json(0x07, { limit: 'contents', why: 'objects are told by their identity alone where this run had looked into enough of them' });
  }
  if (ceiling === 2 && events > limits.events) {
    ceiling = 1;
    json(0x07, { limit: 'events', at: events });
  }
  if (out.bytes > limits.bytes) {
    ceiling = 0;
    json(0x07, { limit: 'bytes', at: out.bytes });
  }
};

// What ends with the process.
function finish() {
  for (let id = 0; id < fns; id += 1) if (fnNumber[id] > 0) missed(id);
}

// The frames that an exception nobody caught has left.
function uncaught(e) {
  flying = e;
  settle(0);
}

module.exports = { probes, plan, thrown, quietly, finish, uncaught };
