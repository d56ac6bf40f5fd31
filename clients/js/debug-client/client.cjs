// Holdpoint's client for JavaScript: function calls of a page or a Node program, recorded, paused and changed.
//
// Arguments, `this` and results are passed on untouched, and without a server everything runs as if this were not here.
"use strict";

const { asked, introduce, introduceAll, late, registerReplacement, run: runIt, task } = require("./call.cjs");
const limits = require("./limits.cjs");
const record = require("./record.cjs");
const { clock, isBlocked, isNode, node, said, say, setTimeout, unblocked, unfit } = require("./runtime.cjs");
const server = require("./server.cjs");
const ship = require("./ship.cjs");
const { trace } = require("./stack.cjs");
const { nameOf } = require("./values.cjs");
const watch = require("./watch.cjs");

const wrapped = new WeakMap();
// What the language itself calls, or what would make a wrapper look like a promise.
const OWN = new Set(["then", "constructor", "toString", "valueOf", "toJSON", "toLocaleString", "prototype"]);

let on = false;

// --- What the app calls.

function configure({ serverUrl, token } = {}) {
  server.configure(serverUrl, token);
  said.clear();
  if (on) watch.start();
}

// "ON", "OFF" and "VERBOSE" switch everything; anything else is wrapped, `[alias, thing]` under a name.
// The wrapper's functions return promises, because asking the server takes time.
function withDebug(target) {
  return debug(target, asynchronously);
}

// The same for code that cannot wait: each call blocks until it is answered.
function withDebugSync(target) {
  return debug(target, synchronously);
}

function debugCall(...given) {
  const { alias, fn, args } = inline(given);
  return on ? asynchronously(callOf(alias, fn, undefined, args)) : Promise.resolve().then(() => fn(...args));
}

function debugCallSync(...given) {
  const { alias, fn, args } = inline(given);
  return on ? synchronously(callOf(alias, fn, undefined, args)) : fn(...args);
}

// Waits until every record is with the server and every callpoint is known here; false when that did not succeed in time.
async function flush({ timeoutMs = limits.FLUSH_MS } = {}) {
  if (!on) return true;
  const deadline = clock() + timeoutMs;
  await watch.current(timeoutMs);
  return ship.flush(Math.max(deadline - clock(), 0));
}

// --- Wrapping.

function debug(target, run) {
  if (typeof target === "string") return turn(target);
  const named = Array.isArray(target) && target.length === 2 && typeof target[0] === "string";
  const [alias, thing] = named ? target : [undefined, target];
  const wrappable = typeof thing === "function" || (typeof thing === "object" && thing !== null);
  return on && wrappable ? wrap(alias, thing, run) : thing;
}

function turn(mode) {
  const word = mode.toUpperCase();
  if (!["ON", "OFF", "VERBOSE"].includes(word)) {
    throw new TypeError(`withDebug takes "ON", "OFF", "VERBOSE", an object or a function, not ${JSON.stringify(mode)}`);
  }
  if (word === "OFF") {
    if (on) void ship.flush(limits.FLUSH_MS).finally(() => void (on || watch.stop()));
    on = false;
    return undefined;
  }
  if (isNode && !node) {
    say("unfit", `the app is not watched: ${unfit ?? "this is not all of Node"}`);
    return undefined;
  }
  if (!on) {
    on = true;
    hook();
    watch.start();
  }
  return undefined;
}

let hooked = false;
function hook() {
  if (hooked) return;
  hooked = true;
  ship.hook();
  watch.whenLearned(introduceAll);
}

function inline([first, ...rest]) {
  const [alias, fn, ...args] = typeof first === "string" ? [first, ...rest] : [undefined, first, ...rest];
  if (typeof fn !== "function") throw new TypeError("debugCall takes a function, and before it a name if you like");
  return { alias: alias ?? nameOf(fn), fn, args };
}

function wrap(alias, thing, run) {
  if (typeof thing === "function") quietly(() => introduce(alias ?? nameOf(thing), thing));
  return new Proxy(thing, {
    apply: (fn, self, args) => (on ? run(callOf(alias ?? nameOf(fn), fn, self, args)) : Reflect.apply(fn, self, args)),
    get(object, key) {
      // With the object itself: private fields do not know the proxy.
      const found = Reflect.get(object, key, object);
      const fixed = Reflect.getOwnPropertyDescriptor(object, key);
      const mustBeItself = fixed && !fixed.configurable && !fixed.writable && "value" in fixed;
      const plain = typeof found !== "function" || typeof key === "symbol" || OWN.has(key) || mustBeItself;
      return plain ? found : method(alias, object, key, found, run);
    },
    set: (object, key, value) => Reflect.set(object, key, value, object),
  });
}

// One wrapper for each method of an object, so that it equals itself.
function method(alias, object, key, fn, run) {
  const ofObject = wrapped.get(object) ?? new Map();
  wrapped.set(object, ofObject);
  const known = ofObject.get(key);
  if (known?.fn === fn && known.run === run && known.alias === alias) return known.wrapper;
  const name = `${alias ? `${alias}.` : className(object)}${key}`;
  const wrapper = function (...args) {
    return on ? run(callOf(name, fn, object, args)) : Reflect.apply(fn, object, args);
  };
  ofObject.set(key, { fn, run, alias, wrapper });
  return wrapper;
}

function className(object) {
  const name = Object.getPrototypeOf(object)?.constructor?.name;
  return name && name !== "Object" && name !== "Function" ? `${name}.` : "";
}

// --- One call.

function callOf(name, fn, self, args) {
  return { name, fn, self, args };
}

// Takes what the record needs before the function runs. Null when nothing is recorded; nothing of this is the app's trouble.
function begin(call, asks) {
  return quietly(() => {
    introduce(call.name, call.fn);
    place(call, asks);
    return record.begin(call);
  });
}

// Where the call is made and inside which other one; a call that waits says so before.
function place(call, asks) {
  call.task ??= task();
  call.trace ??= trace(asks ? limits.FRAMES_ASKED : limits.FRAMES_RECORDED);
}

function finish(call, outcome, begun) {
  if (begun && ship.hasRoom()) quietly(() => ship.put(record.finish(call, outcome, begun)));
}

// Whether a call that did not ask is to pause at its end: a callpoint that was set meanwhile counts.
function isTrapped(call, outcome, begun) {
  if (!begun || !server.mayAsk()) return false;
  const { after, traps } = watch.plan(call.name);
  return outcome.failed ? traps : after;
}

function quietly(work) {
  try {
    return work();
  } catch (error) {
    say("own", `an error of the client itself: ${error?.message ?? error}; a call is not recorded`);
    return null;
  }
}

function asynchronously(call) {
  const isLate = isBlocked();
  const wait = watch.waiting(isLate);
  if (isLate) unblocked();
  if (!wait) return perform(call);
  quietly(() => place(call, true));
  return wait.then(() => perform(call));
}

async function perform(call) {
  const { asks } = watch.plan(call.name);
  const begun = watch.isRecording() ? begin(call, asks) : null;
  if (begun && asks && server.mayAsk()) return drive(asked(call));
  const outcome = await tried(() => (begun ? runIt(call) : Reflect.apply(call.fn, call.self, call.args)));
  if (isTrapped(call, outcome, begun)) await drive(late(call, outcome));
  else finish(call, outcome, begun);
  if (outcome.failed) throw outcome.value;
  return outcome.value;
}

async function drive(steps) {
  let next = steps.next();
  while (!next.done) {
    const { kind, path, body, patience, milliseconds, work } = next.value;
    if (kind === "post") next = steps.next(await server.ask("POST", path, body));
    else if (kind === "get") next = steps.next(await server.ask("GET", path, undefined, patience));
    else if (kind === "run") next = steps.next(await work());
    else if (kind === "attempt") next = steps.next(await tried(work));
    else next = steps.next(await new Promise((done) => setTimeout(done, milliseconds)));
  }
  return next.value;
}

async function tried(work) {
  try {
    return { failed: false, value: await work() };
  } catch (value) {
    return { failed: true, value };
  }
}

function synchronously(call) {
  const isLate = isBlocked();
  quietly(() => watch.catchUp(isLate));
  if (isLate) {
    quietly(() => ship.shipSync(clock() + limits.ASK_MS));
    unblocked();
  }
  const { asks } = watch.plan(call.name);
  const begun = watch.isRecording() ? begin(call, asks) : null;
  if (begun && asks && server.mayAsk()) return driveSync(asked(call));
  const outcome = triedSync(() => (begun ? runIt(call) : Reflect.apply(call.fn, call.self, call.args)));
  if (isTrapped(call, outcome, begun)) driveSync(late(call, outcome));
  else finish(call, outcome, begun);
  if (outcome.failed) throw outcome.value;
  return outcome.value;
}

function driveSync(steps) {
  let next = steps.next();
  while (!next.done) {
    const { kind, path, body, patience, milliseconds, work } = next.value;
    if (kind === "post") next = steps.next(server.askSync("POST", path, body));
    else if (kind === "get") next = steps.next(server.askSync("GET", path, undefined, patience));
    else if (kind === "run") next = steps.next(work());
    else if (kind === "attempt") next = steps.next(triedSync(work));
    // The server holds a poll: in a page, where there is no way to sleep, there is little to sleep for.
    else next = steps.next(node?.sleepSync(milliseconds));
  }
  return next.value;
}

function triedSync(work) {
  try {
    return { failed: false, value: work() };
  } catch (value) {
    return { failed: true, value };
  }
}

const client = { withDebug, withDebugSync, debugCall, debugCallSync, configure, registerReplacement, flush };
// A page's other scripts find it here.
if (typeof window !== "undefined") window.cideldill = window.holdpoint = client;

module.exports = client;
