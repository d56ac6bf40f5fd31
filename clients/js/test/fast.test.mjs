// A call that nothing would pause does not wait for the server: it runs, and its record is shipped behind it.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { configure, debugCall, debugCallSync, flush, withDebug, withDebugSync } from "../debug-client.js";
import { Between, program, Server, until } from "./support.mjs";

const CLIENT = JSON.stringify(new URL("../debug-client.js", import.meta.url).href);
let server;
let between;
before(async () => {
  server = await Server.start();
  between = await Between.start(server);
  configure({ serverUrl: between.url });
  withDebug("ON");
});
after(() => {
  between.stop();
  server.stop();
});
beforeEach(async () => {
  await flush();
  between.requests.length = 0;
});

const asks = () => [...between.of("/api/call/start"), ...between.of("/api/call/complete")];
const begin = (source) => `import { debugCall, debugCallSync, flush, withDebug } from ${CLIENT}; withDebug("ON"); ${source}`;
const app = (source) => program(begin(source), { env: { HOLDPOINT_URL: server.url } });

test("a thousand calls are a few requests, in their order and with their values", async () => {
  const square = withDebug(["square", (n) => n * n]);
  for (let n = 0; n < 1_000; n++) assert.equal(await square(n), n * n);
  assert.equal(await flush(), true);
  assert.equal(asks().length, 0);
  assert.ok(between.of("/api/call/batch").length < 60, `${between.of("/api/call/batch").length} batches`);
  const { calls, total_count } = await server.rest("GET", "/api/calls?function_name=square&limit=1000");
  assert.equal(total_count, 1_000);
  const args = calls.map((call) => call.pretty_args[0]).reverse();
  assert.deepEqual(args, Array.from({ length: 1_000 }, (_, n) => n));
  assert.equal(calls[0].pretty_result, 999 * 999);
});

test("a call that blocks does not wait either", async () => {
  const twice = withDebugSync(["twice", (n) => 2 * n]);
  for (let n = 0; n < 100; n++) assert.equal(twice(n), 2 * n);
  await flush();
  assert.equal(asks().length, 0);
  assert.equal((await server.rest("GET", "/api/calls?function_name=twice")).total_count, 100);
});

test("a function is told of once, closures made at each call too", async () => {
  for (let n = 0; n < 20; n++) await debugCall("closure", (a) => a + 1, n);
  await flush();
  assert.equal(between.of("/api/functions").length, 1);
});

test("values are taken before the function changes them, and sent once", async () => {
  const list = [1];
  const text = "a long text ".repeat(50);
  for (let n = 0; n < 3; n++) await debugCall("push", (to, _) => to.push(0), list, text);
  await flush();
  const { calls } = await server.rest("GET", "/api/calls?function_name=push");
  assert.deepEqual(calls.map((it) => it.pretty_args[0].length), [3, 2, 1]);
  const sent = between.of("/api/call/batch").flatMap(({ body }) => body.values).filter(({ data }) => data === JSON.stringify(text));
  assert.equal(sent.length, 1);
});

test("what throws is recorded and is the caller's", async () => {
  await assert.rejects(debugCall("fails", () => { throw new RangeError("far"); }), /far/);
  assert.throws(() => debugCallSync("fails", () => { throw new RangeError("near"); }), /near/);
  await flush();
  const records = await server.records("fails");
  assert.deepEqual(records.map(({ status, exception_message }) => [status, exception_message]), [["exception", "near"], ["exception", "far"]]);
});

test("a callpoint that is set later is obeyed, and one that is removed forgotten", async () => {
  const later = withDebug(["later", (n) => n]);
  assert.equal(await later(1), 1);
  await server.tool("breakpoint_add", { function_name: "later", behavior: "stop" });
  await server.tool("breakpoint_set_after_behavior", { function_name: "later", behavior: "go" });
  await flush();
  const call = later(2);
  const pause = await server.paused("later");
  assert.deepEqual(pause.call_data.pretty_args, [2]);
  await server.resume(pause, { action: "skip", fake_result: "held" });
  assert.equal(await call, "held");
  await server.tool("breakpoint_remove", { function_name: "later" });
  await flush();
  between.requests.length = 0;
  assert.equal(await later(3), 3);
  assert.equal(asks().length, 0);
});

test("a callpoint on exceptions costs a call nothing until it throws", async () => {
  await server.tool("breakpoint_add", { function_name: "trapped", behavior: "go" });
  await server.tool("breakpoint_set_after_behavior", { function_name: "trapped", behavior: "exception" });
  await flush();
  const trapped = withDebug(["trapped", (list) => { list.push(2); if (list.length > 2) throw new Error("full"); return list; }]);
  between.requests.length = 0;
  await trapped([]);
  assert.equal(asks().length, 0);
  const call = assert.rejects(trapped([0, 1]), /full/);
  const pause = await server.paused("trapped");
  assert.equal(pause.call_data.pause_reason, "exception");
  assert.deepEqual(pause.call_data.pretty_args, [[0, 1]], "as they were before it ran");
  await server.resume(pause, {});
  await call;
});

test("values that the server lost are sent again", async () => {
  const value = { lost: "and found" };
  await debugCall("lost", (it) => it, value);
  await flush();
  const { cid } = between.of("/api/call/batch").flatMap(({ body }) => body.values).find(({ data }) => data === JSON.stringify(value));
  between.instead = (path) => (path === "/api/call/batch" ? JSON.stringify({ status: "ok", accepted: 1, rejected: 0, missing_cids: [cid] }) : undefined);
  await debugCall("lost", (it) => it, value);
  await flush();
  between.instead = () => undefined;
  between.requests.length = 0;
  await debugCall("lost", () => 1);
  await flush();
  assert.ok(between.of("/api/call/batch")[0].body.values.some((it) => it.cid === cid));
});

// --- Code that never lets the event loop turn.

for (const [what, loop] of [
  ["blocks", "const f = (n) => debugCallSync('busy', g, n); for (let n = 0; n >= 0; n++) if (f(n) === 'stop') break;"],
  ["only awaits what is done", "for (let n = 0; n >= 0; n++) if ((await debugCall('busy', g, n)) === 'stop') break;"],
]) {
  test(`a loop that ${what} hears of a callpoint, and ships what it records`, async () => {
    const name = `busy/${what}`;
    const ended = app(`const g = (n) => n; ${loop.replaceAll("'busy'", JSON.stringify(name))} console.log("over");`);
    await until("records of a loop that does not turn", async () => (await server.records(name)).length > 0);
    await server.tool("breakpoint_add", { function_name: name, behavior: "stop" });
    await server.tool("breakpoint_set_after_behavior", { function_name: name, behavior: "go" });
    const pause = await server.paused(name);
    await server.resume(pause, { action: "skip", fake_result: "stop" });
    assert.equal((await ended).stdout, "over\n");
  });
}

// --- The end of a program.

const ENDS = {
  "runs out": "await debugCall('NAME', (n) => n, 1);",
  "runs out without waiting": "debugCall('NAME', (n) => n, 1);",
  "is ended": "await debugCall('NAME', (n) => n, 1); process.exit(0);",
  "is ended from a call that blocks": "debugCallSync('NAME', (n) => n, 1); process.exit(0);",
  "throws": "await debugCall('NAME', (n) => n, 1); throw new Error('the app itself');",
};
for (const [how, source] of Object.entries(ENDS)) {
  test(`a program that ${how} has shipped everything`, async () => {
    const { code, stderr } = await app(source.replaceAll("NAME", how));
    assert.equal(code, how === "throws" ? 1 : 0, stderr);
    if (how !== "throws") assert.equal(stderr, "");
    const [record] = await server.records(how);
    assert.equal(record.pretty_result, 1);
  });
}

test("the watch keeps no program alive, and a program that waits for a pause lives", async () => {
  await server.tool("breakpoint_add", { function_name: "alive", behavior: "stop" });
  await server.tool("breakpoint_set_after_behavior", { function_name: "alive", behavior: "go" });
  const ended = app("console.log(await debugCall('alive', (n) => n, 1));");
  const pause = await server.paused("alive");
  await server.resume(pause, { action: "skip", fake_result: 7 });
  const { code, stdout } = await ended;
  assert.deepEqual([code, stdout], [0, "7\n"]);
});

test("what does not fit is dropped as whole records and counted", async () => {
  const source = `
    const big = "x".repeat(1_000_000);
    for (let n = 0; n < 60; n++) void debugCall("big", (it, n) => n, big, n);
    console.log(await flush({ timeoutMs: 60_000 }));`;
  const { stdout, stderr } = await app(`await debugCall("first", () => 1); ${source}`);
  assert.equal(stdout, "true\n");
  assert.match(stderr, /^holdpoint: calls come faster than the server takes them; some records are dropped and counted\n$/);
  const { total_count } = await server.rest("GET", "/api/calls?function_name=big");
  assert.ok(total_count > 20 && total_count < 60, `${total_count}`);
});

// --- Integers beyond what a number holds.

test("an integer of any size comes as it is", async () => {
  await server.tool("breakpoint_add", { function_name: "exact", behavior: "stop" });
  await server.tool("breakpoint_set_after_behavior", { function_name: "exact", behavior: "go" });
  await flush();
  const data = "1180591620717411303425";
  const answers = [
    { action: { action: "skip", fake_result_data: data }, value: 2n ** 70n + 1n },
    { action: `{"action":"skip","fake_result":[${data},1]}`, value: [2n ** 70n + 1n, 1] },
    { action: { action: "modify", modified_args: [{ cid: "c", data: `[-${data}]` }] }, value: [-(2n ** 70n) - 1n] },
  ];
  for (const { action, value } of answers) {
    const text = typeof action === "string" ? action : JSON.stringify(action);
    between.instead = (path) => (path.startsWith("/api/poll/") ? `{"status":"ready","action":${text}}` : undefined);
    assert.deepEqual(await debugCall("exact", (it) => it, 0), value);
  }
  between.instead = () => undefined;
});

test("an answer that cannot be carried out changes nothing, and the record says why", async () => {
  for (const action of [
    { action: "modify", modified_args: 5 },
    { action: "modify", modified_args: [null] },
    { action: "skip", fake_result_data: "{" },
    { action: "replace" },
    { action: 7 },
    {},
  ]) {
    between.instead = (path) => (path.startsWith("/api/poll/") ? JSON.stringify({ status: "ready", action }) : undefined);
    assert.equal(await debugCall("exact", (it) => it, 3), 3, JSON.stringify(action));
    assert.ok(between.of("/api/call/complete").at(-1).body.action_error, JSON.stringify(action));
  }
  between.instead = () => undefined;
});
