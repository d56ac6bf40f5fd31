// Where this runs, and what it takes from there before the app can change it: a Node program or a page.
"use strict";

const limits = require("./limits.cjs");

const isNode = typeof process !== "undefined" && Boolean(process.versions?.node);
const { performance } = globalThis;
// Milliseconds since the start, and since 1970: tests of an app make clocks of their own.
const clock = performance.now.bind(performance);
const wall = Date.now;

// What only Node has; null in a page. A Node too old to give it to a module is left alone.
let node = null;
let unfit = null;
if (isNode) {
  try {
    node = require("./node.cjs");
    if (typeof node.request !== "function") node = null;
  } catch (error) {
    node = null;
    unfit = `its parts for Node do not load (${error?.message ?? error}); Node 20.16 or newer is needed`;
  }
}

const { setTimeout, clearTimeout } = node ?? globalThis;

// Seconds since 1970 with the fractions that tell which of two calls came first. The finer clock is put right when the
// machine's own has been changed, or has slept.
let offset = wall() - clock();
function now() {
  if (Math.abs(offset + clock() - wall()) > 50) offset = wall() - clock();
  return (offset + clock()) / 1000;
}

// A wait that does not keep a program alive.
function nap(milliseconds) {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    timer?.unref?.();
  });
}

// Whether the app has kept its event loop from turning for long: then nothing is heard, and nothing is sent.
const later = node?.later ?? ((work) => setTimeout(work, 0));
let probing = false;
let turnedAt = 0;
function isBlocked() {
  const at = clock();
  if (!probing) {
    probing = true;
    turnedAt = at;
    later(() => {
      probing = false;
    });
  }
  return at - turnedAt > limits.BLOCKED_MS;
}

// What had to be done meanwhile is done.
const unblocked = () => void (turnedAt = clock());

const identity = {
  process_pid: isNode ? process.pid : 0,
  process_start_time: performance.timeOrigin / 1000,
  page_url: isNode ? undefined : globalThis.location?.href,
};

const said = new Set();

// A thing is said once. The app may have made anything of its console.
function say(key, text) {
  if (said.has(key)) return;
  said.add(key);
  try {
    console.warn(`holdpoint: ${text}`);
  } catch {
    // There is nobody to tell.
  }
}

module.exports = { clearTimeout, clock, identity, isBlocked, isNode, nap, node, now, said, say, setTimeout, unblocked, unfit };
