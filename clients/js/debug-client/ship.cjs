// Sends what was recorded, in batches, behind the app's back. Everything is bounded: what does not fit is dropped as
// whole records, counted, and told to the server with the next batch.
"use strict";

const limits = require("./limits.cjs");
const { batchOf, forget, taken } = require("./record.cjs");
const { clearTimeout, clock, nap, node, say, setTimeout } = require("./runtime.cjs");
const server = require("./server.cjs");
const watch = require("./watch.cjs");

const TRIES = 3;
const queue = [];
// Small requests that nobody waits for; they go before the records.
const posts = [];
let chars = 0;
let dropped = 0;
let timer = null;
// The batch that the server works on or did not take yet.
let unsent = null;
let shipping = null;

// --- From the calls of the app: short, and never waiting.

const hasRoom = () => {
  const has = queue.length < limits.QUEUE_RECORDS && chars < limits.QUEUE_CHARS;
  if (!has) drop();
  return has;
};

function put(record) {
  queue.push(record);
  chars += record.chars;
  gather();
}

function post(path, body) {
  if (posts.length < limits.QUEUE_POSTS) posts.push({ path, body: JSON.stringify(body) });
  gather();
}

function drop(count = 1) {
  dropped += count;
  say("overload", "calls come faster than the server takes them; some records are dropped and counted");
}

function gather() {
  if (timer !== null || shipping !== null) return;
  timer = setTimeout(() => void ship(), limits.GATHER_MS);
  timer?.unref?.();
}

const isEmpty = () => queue.length === 0 && posts.length === 0 && unsent === null;

// --- Shipping, one request at a time and in order.

function ship() {
  disarm();
  shipping ??= shipAll()
    .catch((error) => {
      say("own", `an error of the client itself: ${error?.message ?? error}; records are dropped`);
      return false;
    })
    .finally(() => {
      shipping = null;
      if (!isEmpty() && watch.isReachable()) gather();
    });
  return shipping;
}

function disarm() {
  if (timer !== null) clearTimeout(timer);
  timer = null;
}

// True when nothing is left. Stops at the first trouble: the server is asked again later.
async function shipAll() {
  while (!isEmpty()) {
    if (!watch.isReachable()) return false;
    const next = take();
    try {
      settled(next, await server.send("POST", next.path, next.body));
    } catch (error) {
      if (!failed(next, error)) return false;
    }
  }
  return true;
}

// The same while nothing else can happen: in a call that blocks, and at the very end.
function shipSync(deadline) {
  disarm();
  while (!isEmpty() && watch.isReachable()) {
    const left = Math.ceil(deadline - clock());
    if (left <= 0) return false;
    const next = take();
    try {
      settled(next, server.sendSync("POST", next.path, next.body, left));
    } catch (error) {
      if (!failed(next, error)) return false;
    }
  }
  return isEmpty();
}

// What goes next. It stays at its place until it is settled: a batch that was sent and not answered is sent again by
// the same name, and the server takes it once.
function take() {
  if (posts.length > 0) return posts[0];
  if (unsent === null) {
    unsent = batchOf(queue, dropped);
    dropped = 0;
    chars = queue.reduce((sum, record) => sum + record.chars, 0);
  }
  unsent.path = "/api/call/batch";
  return unsent;
}

function settled(next, { status, data }) {
  if (next.done) return;
  if (next !== unsent) {
    next.done = true;
    posts.shift();
    if (status >= 400) say(`post ${next.path}`, `the server refused ${next.path} with status ${status}`);
    return;
  }
  if (status >= 500) throw new Error(`status ${status}`);
  if (status >= 400) return giveUp(next, `status ${status}`);
  next.done = true;
  unsent = null;
  taken(next, data.missing_cids);
}

// Whether to go on with what is next.
function failed(next, error) {
  if (next.done) return true;
  next.tries = (next.tries ?? 0) + 1;
  // A server that is gone may come back; one that chokes on this never will.
  if (next.tries < TRIES || !watch.isReachable()) return false;
  if (next === unsent) giveUp(next, server.reason(error));
  else posts.shift();
  return true;
}

function giveUp(batch, why) {
  batch.done = true;
  unsent = null;
  dropped += batch.count + batch.dropped;
  say("batch", `the server did not take ${batch.count} records (${why}); they are dropped`);
}

// --- The end.

// Waits until all that was recorded before is shipped; false when it was not in time.
async function flush(milliseconds) {
  const deadline = clock() + milliseconds;
  for (;;) {
    if (isEmpty()) return true;
    const left = deadline - clock();
    if (left <= 0 || !watch.isReachable()) return false;
    await Promise.race([ship(), nap(left)]);
  }
}

// A program that has nothing more to do: what waits is shipped while it can be awaited, else at its very end.
let exhausted = false;
async function beforeExit() {
  if (!exhausted && !isEmpty()) exhausted = !(await flush(limits.FLUSH_MS));
}

const atExit = () => exhausted || isEmpty() || shipSync(clock() + limits.FLUSH_MS);

// A page that is hidden may never be seen again. What a browser still takes is sent, and nobody hears of it.
function leave() {
  watch.release();
  disarm();
  if (isEmpty() || !watch.isReachable()) return;
  let left = limits.LEAVING_BYTES;
  while (!isEmpty()) {
    const next = take();
    left -= new TextEncoder().encode(next.body).length;
    if (left < 0) break;
    next.done = true;
    if (next === unsent) unsent = null;
    else posts.shift();
    server.send("POST", next.path, next.body, { keepalive: true }).catch(() => {});
  }
  // If it is only hidden, the rest goes as ever.
  if (!isEmpty()) gather();
}

let hooked = false;
function hook() {
  if (hooked) return;
  hooked = true;
  // A server that comes back is brought what waits; another one lacks every value.
  watch.whenLearned((isAnother) => {
    if (isAnother) forget();
    if (!isEmpty()) gather();
  });
  if (node) node.atExit(() => void beforeExit(), atExit);
  if (typeof document !== "undefined") {
    document.addEventListener("visibilitychange", () => void (document.visibilityState === "hidden" && leave()));
    globalThis.addEventListener?.("pagehide", leave);
  }
}

module.exports = { drop, flush, hasRoom, hook, post, put, shipSync };
