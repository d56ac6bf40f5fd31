// Every action at a pause, decided by a person over REST or by an agent over MCP, seen in a Node program.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { configure, debugCall, registerReplacement, withDebug } from "../debug-client.js";
import { Server } from "./support.mjs";

let server;
before(async () => {
  server = await Server.start();
  configure({ serverUrl: server.url });
  withDebug("ON");
});
after(() => server.stop());

const add = (a, b) => a + b;
const stopBefore = async (name) => {
  await server.tool("breakpoint_add", { function_name: name, behavior: "stop" });
  await server.tool("breakpoint_set_after_behavior", { function_name: name, behavior: "go" });
};

test("a call that nobody holds is recorded with its values", async () => {
  assert.equal(await debugCall("plain", add, 1, 2), 3);
  const { calls } = await server.tool("breakpoint_get_call_records", { function_name: "plain" });
  assert.equal(calls.length, 1);
  assert.deepEqual(calls[0].pretty_args, [1, 2]);
  assert.equal(calls[0].pretty_result, 3);
  assert.equal(calls[0].status, "success");
});

const rows = [
  ["continue", { action: "continue" }, 5],
  ["modify", { action: "modify", modified_args: [10, 20] }, 30],
  ["skip", { action: "skip", fake_result: { made: "up" } }, { made: "up" }],
  ["replace", { replacement_function: "multiply" }, 6],
];
for (const [what, action, expected] of rows) {
  test(`a person decides: ${what}`, async () => {
    const name = `person_${what}`;
    registerReplacement("multiply", (a, b) => a * b);
    await stopBefore(name);
    const call = debugCall(name, add, 2, 3);
    const pause = await server.paused(name);
    assert.deepEqual(pause.call_data.pretty_args, [2, 3]);
    assert.match(pause.call_data.call_site.stack_trace[0].filename, /actions\.test\.mjs$/);
    await server.resume(pause, action);
    assert.deepEqual(await call, expected);
  });
  test(`an agent decides: ${what}`, async () => {
    const name = `agent_${what}`;
    registerReplacement("multiply", (a, b) => a * b);
    await stopBefore(name);
    const call = debugCall(name, add, 2, 3);
    const pause = await server.paused(name);
    const { action: verb, ...rest } = action;
    const asked = { pause_id: pause.id, ...rest, ...(verb && verb !== "modify" ? { action: verb } : {}) };
    assert.equal((await server.tool("breakpoint_continue", asked)).status, "ok");
    assert.deepEqual(await call, expected);
  });
}

test("raise gives the exception that was asked for", async () => {
  await stopBefore("raising");
  const call = debugCall("raising", add, 1, 1);
  const pause = await server.paused("raising");
  await server.resume(pause, { action: "raise", exception_type: "RangeError", exception_message: "too far" });
  await assert.rejects(call, { name: "RangeError", message: "too far" });
});

test("an exception pauses for real, and is then the caller's", async () => {
  const name = "failing";
  await server.tool("breakpoint_add", { function_name: name, behavior: "go" });
  await server.tool("breakpoint_set_after_behavior", { function_name: name, behavior: "exception" });
  let settled = false;
  const call = debugCall(name, () => { throw new TypeError("broken"); });
  call.catch(() => {}).finally(() => { settled = true; });
  const pause = await server.paused(name);
  assert.equal(pause.call_data.pause_reason, "exception");
  assert.equal(settled, false);
  await server.resume(pause, { action: "continue" });
  await assert.rejects(call, { name: "TypeError", message: "broken" });
});

test("after a success it pauses with the result, whatever the decision it stays", async () => {
  const name = "afterwards";
  await server.tool("breakpoint_add", { function_name: name, behavior: "go" });
  await server.tool("breakpoint_set_after_behavior", { function_name: name, behavior: "stop" });
  const call = debugCall(name, add, 4, 5);
  const pause = await server.paused(name);
  assert.equal(pause.call_data.pretty_result, 9);
  await server.resume(pause, { action: "skip", fake_result: 1 });
  assert.equal(await call, 9);
});

test("expressions see the arguments, by name too, and what they print", async () => {
  const name = "asked";
  await stopBefore(name);
  const call = debugCall(name, (price, count = 1) => price * count, 7, 6);
  const pause = await server.paused(name);
  const ask = (expression) => server.tool("breakpoint_repl_eval", { pause_id: pause.id, expression });
  assert.equal((await ask("price * count")).output, "42");
  assert.equal((await ask("$args.length")).output, "2");
  const printed = await ask("console.log('seen', price)");
  assert.equal(printed.stdout, "seen 7\n");
  const wrong = await ask("nothing.there");
  assert.equal(wrong.is_error, true);
  assert.match(wrong.output, /^ReferenceError: nothing is not defined/);
  await server.resume(pause, { action: "continue" });
  assert.equal(await call, 42);
});

test("arguments, this and identity are untouched", async () => {
  class Cart {
    #items = [];
    put(...items) {
      this.#items.push(...items);
      return arguments.length;
    }
    same(thing) {
      return thing;
    }
  }
  const cart = withDebug(["cart", new Cart()]);
  assert.equal(await cart.put(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 10);
  const thing = { deep: { er: 1 } };
  assert.equal(await cart.same(thing), thing);
  assert.equal(cart.put, cart.put);
  const { calls } = await server.tool("breakpoint_get_call_records", { function_name: "cart.put" });
  assert.equal(calls.length, 1);
});

test("a server that was started anew is given the values again", async () => {
  const big = { text: "x".repeat(1000) };
  await debugCall("values", (it) => it.text.length, big);
  const old = server;
  server = await Server.start();
  await configureKeeping(server.url);
  assert.equal(await debugCall("values", (it) => it.text.length, big), 1000);
  const { calls } = await server.tool("breakpoint_get_call_records", { function_name: "values" });
  assert.deepEqual(calls[0].pretty_args, [big]);
  old.stop();
});

// As a page does whose server came back at another address: what was sent stays remembered.
async function configureKeeping(url) {
  const { useServer } = await import("../debug-client/server.js");
  useServer(url);
}
