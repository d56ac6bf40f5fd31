// Holdpoint's client for JavaScript: function calls of a page or a Node program, recorded, paused and changed.
//
// A page loads it from the server, which puts its own address into the first line it serves;
// a Node program imports this file. Arguments, `this` and results are passed on untouched,
// and without a server everything runs as if this were not here.

import { flow, forget, registerReplacement } from "./debug-client/call.js";
import { ask, askSync, prepare, task, useServer } from "./debug-client/server.js";
import { nameOf } from "./debug-client/values.js";

const served = typeof SERVER_URL === "string" ? SERVER_URL : undefined;
const wrapped = new WeakMap();
// What the language itself calls, or what would make a wrapper look like a promise.
const OWN = new Set(["then", "constructor", "toString", "valueOf", "toJSON", "toLocaleString", "prototype"]);
const FRAMES = 50;

let on = false;
await prepare(served);

export { registerReplacement };

export function configure({ serverUrl, token } = {}) {
  if (serverUrl) useServer(serverUrl, token);
  forget();
}

// "ON", "OFF" and "VERBOSE" switch everything; anything else is wrapped, `[alias, thing]` under a name.
// The wrapper's functions return promises, because asking the server takes time.
export function withDebug(target) {
  return debug(target, asynchronously);
}

// The same for code that cannot wait: each call blocks until it is answered.
export function withDebugSync(target) {
  return debug(target, synchronously);
}

export function debugCall(...given) {
  const { alias, fn, args } = inline(given);
  return on ? asynchronously(callOf(alias, fn, undefined, args)) : Promise.resolve().then(() => fn(...args));
}

export function debugCallSync(...given) {
  const { alias, fn, args } = inline(given);
  return on ? synchronously(callOf(alias, fn, undefined, args)) : fn(...args);
}

function debug(target, run) {
  if (typeof target === "string") return turn(target);
  const named = Array.isArray(target) && target.length === 2 && typeof target[0] === "string";
  const [alias, thing] = named ? target : [undefined, target];
  const wrappable = typeof thing === "function" || (typeof thing === "object" && thing !== null);
  return on && wrappable ? wrap(alias, thing, run) : thing;
}

function turn(mode) {
  if (!["ON", "OFF", "VERBOSE"].includes(mode.toUpperCase())) {
    throw new TypeError(`withDebug takes "ON", "OFF", "VERBOSE", an object or a function, not ${JSON.stringify(mode)}`);
  }
  on = mode.toUpperCase() !== "OFF";
  return undefined;
}

function inline([first, ...rest]) {
  const [alias, fn, ...args] = typeof first === "string" ? [first, ...rest] : [undefined, first, ...rest];
  if (typeof fn !== "function") throw new TypeError("debugCall takes a function, and before it a name if you like");
  return { alias: alias ?? nameOf(fn), fn, args };
}

function wrap(alias, thing, run) {
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

function callOf(name, fn, self, args) {
  return { name, fn, self, args, stack: stack(), task: task() };
}

// The user's frames, innermost first, in the words of V8 and of the others.
function stack() {
  // V8 keeps ten frames, and some of them are ours: the outer ones tell who called whom.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 2 * FRAMES;
  const lines = (new Error().stack ?? "").split("\n");
  Error.stackTraceLimit = stackTraceLimit;
  const frames = lines.map(frame).filter(Boolean);
  const ours = /\/debug-client(\.js|\/)/;
  return frames.filter(({ filename }) => !ours.test(filename)).slice(0, FRAMES);
}

function frame(line) {
  const found = line.match(/^\s*at (?:(?:async )?(.*?) \()?(.*?):(\d+):\d+\)?$/) ?? line.match(/^(.*?)@(.*?):(\d+):\d+$/);
  if (!found) return null;
  const [, name, filename, lineno] = found;
  return { filename: filename.replace(/^file:\/\//, ""), lineno: Number(lineno), function: name || "<anonymous>", code_context: null };
}

async function asynchronously(call) {
  const steps = flow(call);
  let next = steps.next();
  while (!next.done) {
    const { post, get, body, sleep, run, attempt } = next.value;
    if (post) next = steps.next(await ask("POST", post, body));
    else if (get) next = steps.next(await ask("GET", get));
    else if (run) next = steps.next(await run());
    else if (attempt) next = steps.next(await tried(attempt));
    else next = steps.next(await new Promise((done) => setTimeout(done, sleep)));
  }
  return next.value;
}

async function tried(work) {
  try {
    return { value: await work() };
  } catch (thrown) {
    return { thrown };
  }
}

function synchronously(call) {
  const steps = flow(call);
  let next = steps.next();
  while (!next.done) {
    const { post, get, body, run, attempt } = next.value;
    if (post) next = steps.next(askSync("POST", post, body));
    else if (get) next = steps.next(askSync("GET", get));
    else if (run) next = steps.next(run());
    else if (attempt) next = steps.next(triedSync(attempt));
    // The server holds a poll: there is nothing to sleep for, and no way to.
    else next = steps.next();
  }
  return next.value;
}

function triedSync(work) {
  try {
    return { value: work() };
  } catch (thrown) {
    return { thrown };
  }
}

if (typeof window !== "undefined") {
  window.cideldill = window.holdpoint = { withDebug, withDebugSync, debugCall, debugCallSync, configure, registerReplacement };
}
