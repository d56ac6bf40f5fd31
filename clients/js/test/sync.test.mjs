// Code that cannot wait: the thread blocks until the call is answered, and only as long.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";

import { Server } from "./support.mjs";

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

// A program of its own: this one must go on while that one is blocked.
function program(source) {
  const client = JSON.stringify(new URL("../debug-client.js", import.meta.url).href);
  const text = `import { configure, debugCallSync, withDebugSync } from ${client};
    configure({ serverUrl: ${JSON.stringify(server.url)} }); withDebugSync("ON"); ${source}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (data) => { output += data; });
  return new Promise((done) => child.on("close", (code) => done({ code, output })));
}

test("a synchronous call is recorded and returns its result at once", async () => {
  const { code, output } = await program("console.log(debugCallSync('sum', (a, b) => a + b, 20, 22));");
  assert.equal(output, "42\n");
  assert.equal(code, 0);
  const { calls } = await server.tool("breakpoint_get_call_records", { function_name: "sum" });
  assert.equal(calls[0].pretty_result, 42);
});

test("a synchronous call pauses, answers questions and takes the decision", async () => {
  await server.tool("breakpoint_add", { function_name: "shop.price", behavior: "stop" });
  await server.tool("breakpoint_set_after_behavior", { function_name: "shop.price", behavior: "go" });
  const ended = program(`
    const shop = withDebugSync(["shop", { tax: 2, price(n) { return n * this.tax; } }]);
    console.log(shop.price(4));`);
  const pause = await server.paused("shop.price");
  const asked = await server.tool("breakpoint_repl_eval", { pause_id: pause.id, expression: "n * $this.tax" });
  assert.equal(asked.output, "8");
  await server.tool("breakpoint_continue", { pause_id: pause.id, modified_args: [50] });
  assert.equal((await ended).output, "100\n");
});
