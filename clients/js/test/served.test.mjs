// The client as the server gives it: one file, a module or a script, wherever it is saved.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import vm from "node:vm";

import { program, Server } from "./support.mjs";

const NAMES = ["configure", "debugCall", "debugCallSync", "flush", "registerReplacement", "withDebug", "withDebugSync"];
let server;
let folder;
const texts = {};
before(async () => {
  server = await Server.start();
  folder = mkdtempSync(join(tmpdir(), "holdpoint-served-"));
  for (const kind of ["js", "cjs", "d.ts"]) {
    const response = await fetch(`${server.url}/api/debug-client.${kind}`);
    assert.equal(response.status, 200, kind);
    texts[kind] = await response.text();
  }
  for (const [name, kind] of [["client.js", "js"], ["client.mjs", "js"], ["client.cjs", "cjs"]]) writeFileSync(join(folder, name), texts[kind]);
});
after(() => {
  server.stop();
  rmSync(folder, { recursive: true, force: true });
});

// Uses a client by whatever way it was got, and the server it came from hears of it.
const use = (name) => `
  const names = Object.keys(client).sort().join();
  client.withDebug("ON");
  client.debugCall(${JSON.stringify(name)}, (a, b) => a + b, 1, 2).then((sum) => console.log(names, sum));`;

const WAYS = {
  "import of the module": ["module", 'import client, * as all from "./client.mjs"; if (all.cideldill !== client || all.holdpoint !== client || all.withDebug !== client.withDebug) throw new Error("not the same");'],
  "import of the script": ["module", 'import client from "./client.cjs";'],
  "require of the script": ["commonjs", 'const client = require("./client.cjs");'],
  "import() from CommonJS": ["commonjs", 'import("./client.mjs").then(({ default: client }) => {', "});"],
};
// Since 20.19 and 22.12 Node requires a module that has no top-level await, and knows one by its text.
if (process.features.require_module) {
  WAYS["require of the module"] = ["commonjs", 'const { default: client } = require("./client.js");'];
}
for (const [way, [type, got, end = ""]] of Object.entries(WAYS)) {
  test(`one saved file: ${way}`, async () => {
    const { code, stdout, stderr } = await program(`${got}${use(way)}${end}`, { type, cwd: folder });
    assert.deepEqual([code, stdout, stderr.replace(/^\(node:.*\n|^\(Use `node --trace.*\n/gm, "")], [0, `${NAMES.join()} 3\n`, ""]);
    const [record] = await server.records(way);
    assert.deepEqual([record.pretty_args, record.pretty_result], [[1, 2], 3]);
  });
}

test("nothing else is asked for", () => {
  assert.equal(texts.js.split("\n")[0], `const SERVER_URL = "${server.url}";`);
  assert.doesNotMatch(texts.js, /^\s*import\b|\bimport\(/m);
  assert.match(texts.js, /^export \{ client as default, client as cideldill, client as holdpoint \};$/m);
});

test("as a script it leaves only its two names in the page", () => {
  const window = { setTimeout, clearTimeout, performance, TextEncoder, AbortController, console };
  window.window = window.globalThis = window;
  vm.createContext(window);
  const known = new Set(Object.keys(window));
  vm.runInContext(texts.cjs, window);
  vm.runInContext(texts.cjs, window);
  assert.deepEqual(Object.keys(window).filter((name) => !known.has(name)).sort(), ["cideldill", "holdpoint"]);
  assert.deepEqual(Object.keys(window.cideldill).sort(), NAMES);
});

test("the types name what there is", () => {
  for (const name of NAMES) assert.match(texts["d.ts"], new RegExp(`^export function ${name}\\b`, "m"));
});

test("as a package it is imported and required, and is one client", async () => {
  const modules = join(folder, "app", "node_modules", "holdpoint");
  mkdirSync(modules, { recursive: true });
  const { cpSync } = await import("node:fs");
  cpSync(new URL("..", import.meta.url), modules, { recursive: true });
  const source = `
    import client, { withDebug, cideldill } from "holdpoint";
    import { createRequire } from "node:module";
    const required = createRequire(process.cwd() + "/x.js")("holdpoint");
    console.log(required === client, cideldill === client, required.withDebug === withDebug);`;
  const { stdout, stderr } = await program(source, { cwd: join(folder, "app") });
  assert.deepEqual([stdout, stderr], ["true true true\n", ""]);
  const { version } = createRequire(import.meta.url)("../package.json");
  assert.ok(createRequire(import.meta.url)("../debug-client/record.cjs").CLIENT.endsWith(`/${version}`));
});
