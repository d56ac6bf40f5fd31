// What a program sees of the client when nobody decides otherwise, and what an expression sees of the program.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";

import { configure, debugCall, flush, withDebug } from "../debug-client.js";
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
  await flush();
};

test("a call that nobody holds is recorded with its values", async () => {
  assert.equal(await debugCall("plain", add, 1, 2), 3);
  assert.equal(await flush(), true);
  const { calls } = await server.tool("breakpoint_get_call_records", { function_name: "plain", full: true });
  assert.equal(calls.length, 1);
  assert.deepEqual(calls[0].pretty_args, [1, 2]);
  assert.equal(calls[0].pretty_result, 3);
  assert.equal(calls[0].status, "success");
  assert.match(calls[0].call_site.stack_trace[0].filename, /\/calls\.test\.mjs$/);
  assert.equal("decision" in calls[0], false);
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
  await flush();
  const { calls } = await server.tool("breakpoint_get_call_records", { function_name: "cart.put" });
  assert.equal(calls.length, 1);
});

test("the tree knows who called whom, also of calls that overlap", async () => {
  const inner = async (n) => n;
  const outer = async (n) => {
    await new Promise((done) => setTimeout(done, 20));
    return debugCall("inner", inner, await debugCall("inner", inner, n));
  };
  const one = async () => debugCall("one", outer, 1);
  const two = async () => debugCall("two", outer, 2);
  assert.deepEqual(await Promise.all([one(), two()]), [1, 2]);
  await flush();
  const [{ process_key }] = await server.records("one");
  const { calls } = await server.rest("GET", `/api/call-tree/${process_key}`);
  const parents = calls.filter(({ name }) => name === "inner").map(({ line, parent }) => [line, calls[parent]?.name]);
  const expected = [["inner(1) → 1", "one"], ["inner(2) → 2", "two"]];
  assert.deepEqual(parents.sort(), [expected[0], expected[0], expected[1], expected[1]]);
});

test("an object is followed through calls while it changes", async () => {
  const order = { items: 0 };
  const fill = (it) => { it.items += 1; return it; };
  await debugCall("fill", fill, order);
  await debugCall("fill", fill, order);
  await flush();
  const [second, first] = await server.records("fill");
  const ref = first.args[0].client_ref;
  assert.ok(ref > 0);
  assert.equal(second.args[0].client_ref, ref);
  const { history } = await server.rest("GET", `/api/objects/${first.process_key}/${ref}/history`);
  assert.deepEqual(history.map(({ role, pretty }) => [role, pretty.items]).sort(), [["arg", 0], ["arg", 1], ["result", 1], ["result", 2]]);
});

test("a server with a token is spoken to with it", async (t) => {
  const guarded = await Server.start("--token", "secret");
  t.after(() => guarded.stop());
  const program = (env) => new Promise((done) => {
    const client = new URL("../debug-client.js", import.meta.url).href;
    const source = `import { debugCall, debugCallSync, withDebug } from "${client}"; withDebug("ON");
      console.log(await debugCall("guarded", (n) => n, 1), debugCallSync("guarded", (n) => n, 2));`;
    const options = { env: { PATH: process.env.PATH, HOLDPOINT_URL: guarded.url, ...env } };
    execFile(process.execPath, ["--input-type=module", "-e", source], options, (_, stdout, stderr) => done({ stdout, stderr }));
  });
  assert.deepEqual(await program({ HOLDPOINT_TOKEN: "secret" }), { stdout: "1 2\n", stderr: "" });
  const refused = await program({});
  assert.equal(refused.stdout, "1 2\n");
  assert.match(refused.stderr, /^holdpoint: http:\/\/localhost:\d+ refuses \(401 .*token.*\); calls run on without it\n$/);
  const response = await fetch(`${guarded.url}/api/calls`, { headers: { Authorization: "Bearer secret" } });
  assert.equal((await response.json()).total_count, 2);
});

test("a server that was started anew is given the values again", async () => {
  const big = { text: "x".repeat(1000) };
  await debugCall("values", (it) => it.text.length, big);
  await flush();
  const old = server;
  server = await Server.start();
  configure({ serverUrl: server.url });
  assert.equal(await debugCall("values", (it) => it.text.length, big), 1000);
  await flush();
  const { calls } = await server.tool("breakpoint_get_call_records", { function_name: "values", full: true });
  assert.deepEqual(calls[0].pretty_args, [big]);
  const { functions } = await server.tool("breakpoint_list_functions");
  assert.ok(functions.includes("plain"), "functions that the old one was told of");
  old.stop();
});

test("a token alone is taken", async (t) => {
  const guarded = await Server.start("--token", "secret");
  t.after(() => guarded.stop());
  const warn = console.warn;
  console.warn = () => {};
  configure({ serverUrl: guarded.url });
  await debugCall("refused", add, 1, 2);
  console.warn = warn;
  configure({ token: "secret" });
  assert.equal(await debugCall("let in", add, 1, 2), 3);
  assert.equal(await flush(), true);
  const response = await fetch(`${guarded.url}/api/calls`, { headers: { Authorization: "Bearer secret" } });
  assert.deepEqual((await response.json()).calls.map(({ method_name }) => method_name), ["let in"]);
  configure({ serverUrl: server.url, token: null });
});
