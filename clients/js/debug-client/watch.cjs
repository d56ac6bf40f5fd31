// What the callpoints are, as the server last told it. One request is held open until one changes, so a call that
// nothing would pause need not ask.
"use strict";

const limits = require("./limits.cjs");
const { clock, nap, said, say } = require("./runtime.cjs");
const server = require("./server.cjs");

const PAUSES = new Set(["stop", "stop_exception"]);
const PAUSES_AFTER_EXCEPTION = new Set(["exception", "stop_exception"]);
const PATH = "/api/callpoints/watch";
const NOTHING = { asks: false, after: false, traps: false };

let epoch = 0;
let state = null;
let reachable = false;
let recording = false;
let lostSince = null;
// Whether a request is open by which a change would be heard at once, and when there was an answer last.
let held = false;
let heardAt = -Infinity;
let abort = null;
let settle = null;
// Until something is known, calls wait for this.
let first = null;
let refreshing = null;
let blockingRetryAt = -Infinity;
let blockingRetry = limits.RETRY_FIRST_MS;
const listeners = [];
const plans = new Map();

// --- The table of the protocol, the same that the server has.

function decide({ callpoints, fallback }, name) {
  const point = Object.hasOwn(callpoints, name) ? callpoints[name] : null;
  if (point === null || typeof point !== "object") return NOTHING;
  const effective = (behavior) => (behavior === undefined || behavior === null || behavior === "yield" ? fallback : behavior);
  const before = PAUSES.has(effective(point.before)) || Boolean(point.replacement);
  const success = PAUSES.has(effective(point.after));
  // A call that has run cannot be paused before it any more.
  return { asks: before || success, after: success && !before, traps: PAUSES_AFTER_EXCEPTION.has(effective(point.after)) && !before };
}

// What a call of this name must do now. Without a server nothing can pause, so nothing asks.
function plan(name) {
  if (!reachable || state === null) return NOTHING;
  let found = plans.get(name);
  if (found === undefined) {
    if (plans.size >= limits.CID_CACHE) plans.clear();
    plans.set(name, (found = decide(state, name)));
  }
  return found;
}

// --- Learning.

function start() {
  stop();
  first = new Promise((done) => {
    settle = () => {
      first = null;
      done();
    };
  });
  void loop(epoch);
}

function stop() {
  epoch += 1;
  abort?.abort();
  settle?.();
  settle = null;
  state = null;
  plans.clear();
  reachable = recording = held = false;
  lostSince = null;
  blockingRetryAt = -Infinity;
  blockingRetry = limits.RETRY_FIRST_MS;
}

async function loop(mine) {
  let delay = limits.RETRY_FIRST_MS;
  let holds = false;
  while (mine === epoch) {
    if (first === null && isHidden()) {
      holds = false;
      await shown();
      continue;
    }
    const began = clock();
    const version = state?.version;
    try {
      await hear(mine, holds);
      delay = limits.RETRY_FIRST_MS;
      // A server that does not hold the request must not be asked in a tight loop.
      if (holds && version === state?.version && clock() - began < 50) await nap(delay);
      holds = true;
    } catch (error) {
      if (mine !== epoch) return;
      const wasHeld = holds;
      holds = false;
      // The connection ended, perhaps only that: another one is tried before the server counts as gone.
      if (wasHeld) continue;
      lost(error);
      await nap(delay);
      delay = Math.min(2 * delay, limits.RETRY_LONGEST_MS);
      server.locate();
    }
  }
}

// One answer; held by the server while it has nothing new. Only the first one is worth keeping a program alive for.
async function hear(mine, holds) {
  abort = new AbortController();
  const path = holds ? `${PATH}?version=${state.version}&wait_s=${limits.WATCH_HOLD_S}` : PATH;
  const patience = holds ? 1_000 * limits.WATCH_HOLD_S + limits.GRACE_MS : limits.ASK_MS;
  held = holds;
  try {
    // A closed connection may mean another server, whose version of the same number says something else.
    const options = { patience, background: first === null, again: !holds, signal: abort.signal };
    const answer = await server.send("GET", path, undefined, options);
    if (mine === epoch) learned(answer);
  } finally {
    if (mine === epoch) held = false;
  }
}

function learned(answer) {
  const { status, data } = answer;
  if (status !== 200) throw Object.assign(new Error(`status ${status}`), { refusal: server.refusal(answer) });
  const { version, callpoints, default_behavior: fallback = "stop", server: run = null } = data;
  if (!["number", "string", "bigint"].includes(typeof version) || callpoints === null || typeof callpoints !== "object") {
    throw new Error("the answer about callpoints is not understood");
  }
  heardAt = clock();
  const isAnother = state === null || state.run !== run;
  // An answer that was overtaken by a later one says nothing.
  if (isAnother || version >= state.version) state = { version, run, fallback, callpoints };
  plans.clear();
  const isBack = !reachable;
  reachable = recording = true;
  lostSince = null;
  blockingRetry = limits.RETRY_FIRST_MS;
  said.delete("gone");
  if (isAnother || isBack) for (const listen of listeners) listen(isAnother);
  settle?.();
}

function lost(error) {
  reachable = false;
  lostSince ??= clock();
  if (state === null || clock() - lostSince >= limits.LOST_MS) recording = false;
  const what = error?.refusal ?? `does not answer (${server.reason(error)})`;
  say("gone", `${server.address()} ${what}; calls run on without it`);
  settle?.();
}

// --- What a call waits for before it can know what to do. Nearly always nothing.

function waiting(isLate) {
  if (first !== null) return first;
  return reachable && (isLate || isStale()) ? refresh() : null;
}

// What the server says from now on: an answer that is already on its way does not count.
async function current(patience) {
  if (first !== null) return first;
  await refreshing;
  return reachable ? refresh(patience) : undefined;
}

// No request is held open by a page that nobody sees, as a browser has only a few for all its pages.
const isStale = () => !held && clock() - heardAt > limits.FRESH_MS;

function refresh(patience) {
  const mine = epoch;
  refreshing ??= server
    .send("GET", PATH, undefined, { patience })
    .then((answer) => void (mine === epoch && learned(answer)))
    .catch((error) => void (mine === epoch && lost(error)))
    .finally(() => {
      refreshing = null;
    });
  return refreshing;
}

// The same for a call that blocks, in which the event loop does not turn. A server that is gone is looked for less and
// less often: each time costs the app its time.
function catchUp(isLate) {
  if (reachable ? !isLate && !isStale() : first === null && clock() < blockingRetryAt) return false;
  const wasUnknown = first !== null;
  try {
    if (!reachable && !wasUnknown) server.locate();
    learned(server.sendSync("GET", PATH));
  } catch (error) {
    lost(error);
    blockingRetryAt = clock() + blockingRetry;
    blockingRetry = Math.min(2 * blockingRetry, limits.RETRY_BLOCKING_LONGEST_MS);
  }
  return true;
}

// --- A page that nobody sees.

const isHidden = () => typeof document !== "undefined" && document.visibilityState === "hidden";

function shown() {
  return new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
}

// Called when a page is hidden or left.
const release = () => abort?.abort();

module.exports = {
  catchUp,
  current,
  decide,
  plan,
  release,
  start,
  stop,
  waiting,
  isReachable: () => reachable,
  isRecording: () => recording,
  whenLearned: (listen) => void listeners.push(listen),
};
