// Every row of the action table, in a Node program and in a page of a real browser, in calls that wait and calls that
// block; decided by a person over REST and by an agent over MCP, who see the same pause.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Page, Program } from "./places.mjs";
import { Server } from "./support.mjs";

let server;
const places = {};
before(async () => {
  server = await Server.start();
  places.Node = await Program.start(server);
  places["a page"] = await Page.start(server);
});
after(async () => {
  for (const place of Object.values(places)) await place.close();
  server.stop();
});

const behave = async (name, first, then) => {
  await server.tool("breakpoint_add", { function_name: name, behavior: first });
  await server.tool("breakpoint_set_after_behavior", { function_name: name, behavior: then });
};

// The script of a call that has this name; `add` counts how often it ran.
const script = (call, name, body = "a + b") => `
  let ran = 0;
  client.registerReplacement("multiply", (a, b) => a * b);
  const add = (a, b) => { ran += 1; return ${body}; };
  try {
    return [await client.${call}(${JSON.stringify(name)}, add, 2, 3), ran];
  } catch (error) {
    return [error.name + ": " + error.message, ran];
  }`;

const ROWS = {
  "continue": [{}, 5, 1],
  "continue, said": [{ action: "continue" }, 5, 1],
  "modify": [{ action: "modify", modified_args: [10, 20] }, 30, 1],
  "modify by arguments alone": [{ modified_args: [10, 20] }, 30, 1],
  "skip with a result": [{ action: "skip", fake_result: { made: ["up", 1.5, null] } }, { made: ["up", 1.5, null] }, 0],
  "skip": [{ action: "skip" }, null, 0],
  "raise an error of the language": [
    { action: "raise", exception_type: "RangeError", exception_message: "far" }, "RangeError: far", 0],
  "raise one of another name": [
    { action: "raise", exception_type: "Refused", exception_message: "no" }, "Refused: no", 0],
  "replace": [{ replacement_function: "multiply" }, 6, 0],
  "replace over another action": [{ action: "skip", fake_result: 1, replacement_function: "multiply" }, 6, 0],
};

const everywhere = (what, check) => {
  for (const where of ["Node", "a page"]) {
    for (const call of ["debugCall", "debugCallSync"]) {
      for (const who of ["a person", "an agent"]) {
        test(`${what}: ${call} in ${where}, decided by ${who}`, () => check(where, call, who));
      }
    }
  }
};

// Both see the pause and look into it; one decides, and the other is told that it is done.
async function decide(name, who, action) {
  const pause = await server.paused(name);
  const { paused } = await server.tool("breakpoint_list_paused");
  const seen = paused.find((it) => it.id === pause.id);
  for (const data of [pause.call_data, seen.call_data]) {
    assert.deepEqual(data.pretty_args, [2, 3]);
    assert.equal(data.method_name, name);
  }
  assert.equal((await server.evaluate(pause, "a + b + 1")).output, "6");
  assert.equal((await server.tool("breakpoint_repl_eval", { pause_id: pause.id, expression: "$args.length" })).output, "2");
  if (who === "a person") {
    assert.equal((await server.resume(pause, action)).status, "ok");
    assert.equal((await server.tool("breakpoint_continue", { pause_id: pause.id })).error, "pause_already_resumed");
  } else {
    assert.equal((await server.tool("breakpoint_continue", { pause_id: pause.id, ...action })).status, "ok");
    const left = (await server.rest("GET", "/api/paused")).paused;
    assert.ok(!left.some((it) => it.id === pause.id));
  }
  return pause;
}

for (const [row, [action, expected, ran]] of Object.entries(ROWS)) {
  everywhere(row, async (where, call, who) => {
    const name = `${row}/${where}/${call}/${who}`;
    await behave(name, "stop", "go");
    const outcome = places[where].run(script(call, name));
    await decide(name, who, action);
    assert.deepEqual((await outcome).value, [expected, ran]);
    // The record says what was decided, beside the arguments that the caller gave.
    const [record] = await server.records(name);
    assert.equal(record.status, row.startsWith("raise") ? "exception" : "success");
    assert.deepEqual(record.pretty_args, [2, 3]);
    const { modified_args } = action;
    const function_name = action.replacement_function;
    const word = function_name ? "replace" : modified_args ? "modify" : action.action ?? "continue";
    const decision = { action: word, ...(function_name && { function_name }), ...(modified_args && { modified_args }) };
    assert.deepEqual(record.decision, decision);
    assert.ok(record.call_site.stack_trace.length > 0, "the place of the call");
  });
}

everywhere("after a success the result stands, whatever is decided", async (where, call, who) => {
  const name = `after/${where}/${call}/${who}`;
  await behave(name, "go", "stop");
  const outcome = places[where].run(script(call, name));
  const pause = await decide(name, who, { action: "skip", fake_result: 1 });
  assert.equal(pause.call_data.pretty_result, 5);
  assert.deepEqual((await outcome).value, [5, 1]);
});

everywhere("an exception pauses for real, and is then the caller's", async (where, call, who) => {
  const name = `exception/${where}/${call}/${who}`;
  await behave(name, "go", "exception");
  let settled = false;
  const outcome = places[where].run(script(call, name, "nothing.there"));
  outcome.finally(() => { settled = true; });
  const pause = await server.paused(name);
  assert.equal(pause.call_data.pause_reason, "exception");
  assert.equal(settled, false);
  await decide(name, who, {});
  const [text, ran] = (await outcome).value;
  assert.equal(text, "ReferenceError: nothing is not defined");
  assert.equal(ran, 1);
});

test("an action that there is not is refused, and the call still waits", async () => {
  await behave("waits", "stop", "go");
  const outcome = places.Node.run(script("debugCall", "waits"));
  const pause = await server.paused("waits");
  const refused = await server.tool("breakpoint_continue", { pause_id: pause.id, action: "explode" });
  assert.equal(refused.error, "invalid_action");
  assert.equal((await server.paused("waits")).id, pause.id);
  await server.resume(pause, {});
  assert.deepEqual((await outcome).value, [5, 1]);
});

test("an argument may be given back by its cid, as the live object", async () => {
  await behave("swaps", "stop", "go");
  const outcome = places.Node.run(`
    const first = { deep: 1 };
    return await client.debugCall("swaps", (a, b) => [a, b === first], first, 2);`);
  const pause = await server.paused("swaps");
  const [{ cid }] = pause.call_data.args;
  await server.tool("breakpoint_continue", { pause_id: pause.id, modified_args: ["new", { cid }] });
  assert.deepEqual((await outcome).value, ["new", true]);
});

test("what cannot be done is in the record, and the call runs as written", async () => {
  for (const [action, why] of [
    [{ replacement_function: "nobody" }, /^no function `nobody` with 2 parameters/],
    [{ modified_args: [{ cid: "ab" }, 1] }, /^no argument of this call has the cid ab/],
  ]) {
    await behave("undone", "stop", "go");
    const outcome = places.Node.run(script("debugCall", "undone"));
    await server.resume(await server.paused("undone"), { action: "modify", ...action });
    assert.deepEqual((await outcome).value, [5, 1]);
    const [{ decision }] = await server.records("undone");
    assert.match(decision.not_done, why);
  }
});

test("a page's call is recorded with its address, and expressions see the page", async () => {
  const page = places["a page"];
  await behave("order", "stop", "go");
  const outcome = page.run("return await client.debugCall('order', (name, count) => name + ' x' + count, 'pen', 3);");
  const pause = await server.paused("order");
  const asked = await server.tool("breakpoint_repl_eval", { pause_id: pause.id, expression: "document.title + count" });
  assert.equal(asked.output, "shop3");
  await server.resume(pause, {});
  assert.equal((await outcome).value, "pen x3");
  const [record] = await server.records("order");
  assert.deepEqual(record.pretty_args, ["pen", 3]);
  assert.equal(record.page_url, page.address);
});
