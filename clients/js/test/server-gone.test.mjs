// Without a server, or with a wrong one, the app goes on and says so once.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { afterEach, test } from "node:test";

import { configure, debugCall, debugCallSync, withDebug, withDebugSync } from "../debug-client.js";

const warnings = [];
console.warn = (line) => warnings.push(line);
// What the server was asked: one that nobody asks changes nothing by itself.
const asked = [];
let server;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  warnings.length = asked.length = 0;
});

async function serving(handle) {
  server = createServer((request, response) => {
    asked.push(request.url.replace(/\?.*/, ""));
    handle(request, response);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  configure({ serverUrl: `http://127.0.0.1:${server.address().port}` });
}

// A server that tells of a callpoint, and does this with whatever else it is asked.
const WATCH = "/api/callpoints/watch";
const POINT = { before: "stop", after: "go", replacement: null };
const STATE = { version: 1, server: "s", default_behavior: "go", callpoints: { held: POINT } };
const knowing = (handle) => (request, response) => {
  if (!request.url.startsWith(WATCH)) return handle(request, response);
  // The one that asks for the next version is answered when there is one, and there is none.
  if (!request.url.includes("version=")) response.end(JSON.stringify(STATE));
};

withDebug("ON");

test("nobody listens: calls run, one warning", async () => {
  configure({ serverUrl: "http://127.0.0.1:1" });
  const add = withDebug((a, b) => a + b);
  assert.equal(await add(1, 2), 3);
  assert.equal(await add(3, 4), 7);
  assert.equal(debugCallSync((x) => x * 2, 21), 42);
  assert.equal(warnings.length, 1, warnings.join("\n"));
  assert.match(warnings[0], /127\.0\.0\.1:1 does not answer .* run on without it/);
});

test("an exception of the app is the app's, with or without a server", async () => {
  configure({ serverUrl: "http://127.0.0.1:1" });
  await assert.rejects(debugCall(() => { throw new RangeError("mine"); }), /mine/);
  assert.throws(() => debugCallSync(() => { throw new RangeError("mine"); }), RangeError);
});

const wrong = [
  ["errors", (_, response) => response.writeHead(500).end("{}")],
  ["garbage", (_, response) => response.end("<html>")],
  ["no object", (_, response) => response.end("null")],
  ["a reset", (request) => request.socket.destroy()],
  ["an unknown action", (_, response) => response.end('{"status":"ok","action":"dance","call_id":"c"}')],
];
for (const [what, handle] of wrong) {
  test(`a server that answers with ${what} changes nothing`, async () => {
    await serving(handle);
    assert.equal(await debugCall("named", (a) => a + 1, 1), 2);
    const calls = withDebug(["calls", { n: 5, plus(a) { return this.n + a; } }]);
    assert.equal(await calls.plus(2), 7);
    assert.equal(calls.n, 5);
    assert.ok(asked.includes(WATCH), asked.join());
    assert.equal(warnings.length, 1, warnings.join("\n"));
  });

  test(`a server that answers a call that asks with ${what} changes nothing`, async () => {
    await serving(knowing(handle));
    assert.equal(await debugCall("held", (a) => a + 1, 1), 2);
    assert.ok(asked.includes("/api/call/start"), asked.join());
  });
}

test("a server that goes away during a pause lets the call go on", async () => {
  await serving(knowing((request, response) => {
    if (request.url.startsWith("/api/poll")) return server.close(), server.closeAllConnections();
    response.end('{"status":"ok","call_id":"c","action":"poll","poll_url":"/api/poll/p"}');
  }));
  assert.equal(await debugCall("held", (a) => a, 9), 9);
  assert.ok(asked.includes("/api/poll/p"), asked.join());
  assert.equal(warnings.length, 1, warnings.join("\n"));
});

test("switched off, everything is itself", async () => {
  withDebug("OFF");
  const thing = {};
  assert.equal(withDebug(thing), thing);
  assert.equal(withDebugSync(thing), thing);
  assert.equal(await debugCall((a) => a, 1), 1);
  withDebug("ON");
  assert.throws(() => withDebug("MAYBE"), /"ON", "OFF"/);
});
