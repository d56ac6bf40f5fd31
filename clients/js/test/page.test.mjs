// What only a page has: scripts that are no modules, and an end that nobody waits for.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Page } from "./places.mjs";
import { Server, until } from "./support.mjs";

let server;
let page;
before(async () => {
  server = await Server.start();
  page = await Page.start(server);
});
after(async () => {
  await page.close();
  server.stop();
});

// A page in the page, by a script and not by a module. `over` is called by it with what it found.
const framed = (source, ending = "") => `
  return await new Promise((done) => {
    const frame = document.createElement("iframe");
    window.over = (found) => { ${ending} done(found); };
    frame.srcdoc = '<script src="${server.url}/api/debug-client.cjs"></' + 'script><script>(async () => {'
      + ${JSON.stringify(source)} + '})()</' + 'script>';
    document.body.append(frame);
  });`;

test("a script has the client by its name, and it records", async () => {
  const source = `
    holdpoint.withDebug("ON");
    const sum = await cideldill.debugCall("by script", (a, b) => a + b, 1, 2);
    parent.over([holdpoint === cideldill, sum, await holdpoint.flush()]);`;
  assert.deepEqual((await page.run(framed(source))).value, [true, 3, true]);
  const [record] = await server.records("by script");
  assert.deepEqual(record.pretty_args, [1, 2]);
  assert.match(record.page_url, /^about:srcdoc$/);
});

test("a page that is left has shipped what it recorded", async () => {
  const source = `
    holdpoint.withDebug("ON");
    await holdpoint.debugCall("first", () => 0);
    await holdpoint.flush();
    for (let n = 0; n < 20; n++) holdpoint.debugCall("left", (it) => it, n);
    await holdpoint.debugCall("left", (it) => it, "last");
    parent.over("gone");`;
  // In the same turn of its event loop: no timer of it fires any more.
  assert.equal((await page.run(framed(source, "frame.remove();"))).value, "gone");
  await until("the records of a page that is gone", async () => {
    const { total_count } = await server.rest("GET", "/api/calls?function_name=left");
    return total_count === 21;
  });
});

test("a loop in a page that blocks hears of a callpoint", async () => {
  await server.tool("breakpoint_add", { function_name: "page loop", behavior: "go" });
  await server.tool("breakpoint_set_after_behavior", { function_name: "page loop", behavior: "go" });
  const outcome = page.run(`
    for (let n = 0; n >= 0; n++) if (client.debugCallSync("page loop", (it) => it, n) === "stop") return "over";`);
  await until("records of a page that blocks", async () => (await server.records("page loop")).length > 0);
  await server.tool("breakpoint_set_behavior", { function_name: "page loop", behavior: "stop" });
  await server.resume(await server.paused("page loop"), { action: "skip", fake_result: "stop" });
  assert.equal((await outcome).value, "over");
});

test("an integer of any size comes to a page as it is", async () => {
  const script = `
    const value = await client.debugCall("page exact", (it) => it, 1);
    return [typeof value, String(value)];`;
  await server.tool("breakpoint_add", { function_name: "page exact", behavior: "stop" });
  await server.tool("breakpoint_set_after_behavior", { function_name: "page exact", behavior: "go" });
  const outcome = page.run(script);
  const pause = await server.paused("page exact");
  // As text: the test's own JSON would not hold it.
  await fetch(`${server.url}/api/paused/${pause.id}/continue`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: '{"action": "modify", "modified_args": [{"cid": "c", "data": "1180591620717411303425", "serialization_format": "json"}]}',
  });
  assert.deepEqual((await outcome).value, ["bigint", "1180591620717411303425"]);
});

// A page of another port, in a browser that even has the cookie of a page of ours: what it may ask for is what apps ask for.
test("a page of another server gets nothing but the routes of calls", async () => {
  const { url } = await server.rest("POST", "/api/open");
  const opened = url.replace("127.0.0.1", "localhost");
  const script = `
    const tried = async (path, options) => {
      try {
        return (await fetch(${JSON.stringify(server.url)} + path, options)).status;
      } catch {
        return "refused";
      }
    };
    const frame = document.createElement("iframe");
    const loaded = new Promise((done) => (frame.onload = done));
    frame.src = ${JSON.stringify(opened)};
    document.body.append(frame);
    await loaded;
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const json = { "Content-Type": "application/json" };
    const own = { credentials: "include" };
    return {
      functions: await tried("/api/functions"),
      again: await tried(${JSON.stringify(new URL(url).pathname + new URL(url).search)}),
      mcp: await tried("/mcp", { method: "POST", headers: json, body: ping, ...own }),
      simple: await tried("/mcp", { method: "POST", body: ping, ...own }),
      paused: await tried("/api/paused", own),
      calls: await tried("/api/calls", own),
      events: await tried("/api/events", own),
      health: await tried("/healthz", own),
      open: await tried("/api/open", { method: "POST", ...own }),
    };`;
  const { value } = await page.run(script);
  const { functions, ...others } = value;
  assert.equal(functions, 200);
  assert.deepEqual(new Set(Object.values(others)), new Set(["refused"]), JSON.stringify(value));
});

// Every route of the server's own list, as `[method, path]`.
const routes = async () => {
  const { paths } = await server.rest("GET", "/openapi.json");
  const listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path.replace(/[{}]/g, "")]),
  );
  return [...listed, ["POST", "/mcp"], ["GET", "/mcp"], ["DELETE", "/mcp"]];
};

// What a page of nobody's origin reaches: answers that it can read, and what it can send without being asked first.
const knocking = (all) => `
  const url = ${JSON.stringify(server.url)};
  const answered = [];
  for (const [method, path] of ${JSON.stringify(all)}) {
    const body = method === "GET" || method === "DELETE" ? undefined : '{"function_name":"stolen"}';
    const json = body && { "Content-Type": "application/json" };
    for (const options of [{ headers: json, credentials: "include" }, {}, { mode: "no-cors" }]) {
      try {
        const answer = await fetch(url + path, { method, body, ...options });
        if (answer.type !== "opaque") answered.push([method, path, answer.status]);
      } catch {
        // Refused, which is all that it is to see.
      }
    }
  }
  return answered;`;

test("a page of nobody's origin gets nothing from any route", async () => {
  const all = await routes();
  assert.ok(all.length > 40, String(all.length));
  const source = JSON.stringify(`(async () => {${knocking(all)}})().then((it) => parent.postMessage(it, "*"))`);
  const script = `
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    frame.srcdoc = "<script>" + ${source} + "</" + "script>";
    const told = new Promise((done) => addEventListener("message", ({ data }) => done(data)));
    document.body.append(frame);
    return await told;`;
  const { value, thrown } = await page.run(script);
  assert.deepEqual(value, [], JSON.stringify(thrown ?? value));
  const { breakpoints } = await server.rest("GET", "/api/breakpoints");
  assert.ok(!JSON.stringify(breakpoints).includes("stolen"), JSON.stringify(breakpoints));
});
