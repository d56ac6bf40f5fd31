// A page in a real browser, on another port than the server that it takes the client from.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Server } from "./support.mjs";

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

// Opens a page with this script; gives what it reports.
async function page(script) {
  let report;
  const reported = new Promise((done) => { report = done; });
  const html = `<!doctype html><title>shop</title><script type="module">
    const tell = (what) => fetch("/report", { method: "POST", body: JSON.stringify(what) });
    addEventListener("unhandledrejection", (event) => tell({ failed: String(event.reason?.stack ?? event.reason) }));
    try {
      const client = await import("${server.url}/api/debug-client.js");
      client.withDebug("ON");
      await tell(await (async () => { ${script} })());
    } catch (error) { await tell({ failed: String(error.stack) }); }
  </script>`;
  const site = createServer(async (request, response) => {
    if (request.url !== "/report") return response.setHeader("Content-Type", "text/html").end(html);
    const parts = [];
    for await (const part of request) parts.push(part);
    response.end();
    report(JSON.parse(Buffer.concat(parts)));
  });
  await new Promise((ready) => site.listen(0, "127.0.0.1", ready));
  const profile = mkdtempSync(join(tmpdir(), "holdpoint-page-"));
  const address = `http://localhost:${site.address().port}/`;
  const browser = spawn(process.env.HOLDPOINT_CHROMIUM ?? "chromium", [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    `--user-data-dir=${profile}`, address,
  ], { stdio: "ignore" });
  const closed = new Promise((done) => browser.on("close", done));
  const close = async () => {
    browser.kill("SIGKILL");
    await closed;
    site.closeAllConnections();
    site.close();
    // The browser's own children may still write there for a moment.
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  const gone = closed.then(() => { throw new Error("the browser ended before the page reported"); });
  return { address, result: Promise.race([reported, gone]), close };
}

test("a page's call is recorded with its address", async (t) => {
  const shown = await page("return await client.debugCall('order', (name, count) => name + ' x' + count, 'pen', 3);");
  t.after(shown.close);
  assert.equal(await shown.result, "pen x3");
  const { calls } = await server.tool("breakpoint_get_call_records", { function_name: "order" });
  assert.deepEqual(calls[0].pretty_args, ["pen", 3]);
  assert.equal(calls[0].page_url, shown.address);
});

test("a page's call pauses; an agent changes an argument and the page gets the result", async (t) => {
  await server.tool("breakpoint_add", { function_name: "shop.order", behavior: "stop" });
  await server.tool("breakpoint_set_after_behavior", { function_name: "shop.order", behavior: "go" });
  const shown = await page(`
    const shop = client.withDebug(["shop", { order: (name, count) => ({ name, count }) }]);
    return await shop.order("pen", 3);`);
  t.after(shown.close);
  const pause = await server.paused("shop.order");
  const asked = await server.tool("breakpoint_repl_eval", { pause_id: pause.id, expression: "document.title + count" });
  assert.equal(asked.output, "shop3");
  await server.tool("breakpoint_continue", { pause_id: pause.id, modified_args: ["pencil", 7] });
  assert.deepEqual(await shown.result, { name: "pencil", count: 7 });
});

test("a page's synchronous call pauses; a person lets it skip", async (t) => {
  await server.tool("breakpoint_add", { function_name: "blocking", behavior: "stop" });
  await server.tool("breakpoint_set_after_behavior", { function_name: "blocking", behavior: "go" });
  const shown = await page("return client.debugCallSync('blocking', () => 'ran');");
  t.after(shown.close);
  const pause = await server.paused("blocking");
  await server.resume(pause, { action: "skip", fake_result: ["not", "run"] });
  assert.deepEqual(await shown.result, ["not", "run"]);
});

test("raise and replace reach a page", async (t) => {
  await server.tool("breakpoint_add", { function_name: "risky", behavior: "stop" });
  await server.tool("breakpoint_set_after_behavior", { function_name: "risky", behavior: "go" });
  const shown = await page(`
    client.registerReplacement("safe", (n) => -n);
    const thrown = await client.debugCall("risky", (n) => n, 1).catch((error) => error.name + ": " + error.message);
    return [thrown, await client.debugCall("risky", (n) => n, 2)];`);
  t.after(shown.close);
  const first = await server.paused("risky");
  await server.resume(first, { action: "raise", exception_type: "RangeError", exception_message: "no" });
  const second = await server.paused("risky");
  await server.tool("breakpoint_continue", { pause_id: second.id, replacement_function: "safe" });
  assert.deepEqual(await shown.result, ["RangeError: no", -2]);
});
