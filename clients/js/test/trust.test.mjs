// Whose the server is, asked before anything is sent to it. Another user is a process of ours that became one: only root
// can make that.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { program } from "./support.mjs";

const { place, question, whose } = createRequire(import.meta.url)("../debug-client/trust.cjs");

const NOBODY = 65_534;
const CLIENT = new URL("../debug-client.js", import.meta.url).pathname;
const isRoot = process.geteuid() === 0;
const skip = isRoot ? false : "only root can be another user";
const CALLS = `
  import { debugCall, debugCallSync, flush, withDebug } from ${JSON.stringify(CLIENT)};
  withDebug("ON");
  console.log(await debugCall("asked", (a) => a + 1, 1), debugCallSync("sync", (a) => a + 1, 2));
  await flush({ timeoutMs: 1000 });
`;

// Another user who listens where a server of ours was, and keeps what is sent.
async function thief() {
  const source = `
    const { createServer } = require("node:net");
    process.setgid(${NOBODY}); process.setuid(${NOBODY});
    const server = createServer((peer) => {
      peer.on("error", () => {});
      peer.on("data", (data) => {
        console.log(JSON.stringify(String(data)));
        peer.destroy();
      });
      console.log("somebody came");
    });
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ["-e", source], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (data) => (said += data));
  while (!said.includes("\n")) await new Promise((more) => child.stdout.once("data", more));
  const ended = new Promise((done) => child.once("close", done));
  const stop = async () => {
    child.kill();
    await ended;
    return said.trim().split("\n").slice(1);
  };
  return { port: Number(said.split("\n")[0]), stop };
}

test("another user's server at the port of a killed one is sent nothing", { skip }, async () => {
  const home = mkdtempSync(join(tmpdir(), "holdpoint-trust-"));
  const other = await thief();
  writeFileSync(join(home, "port"), String(other.port));
  const { stdout, stderr } = await program(CALLS, { env: { HOLDPOINT_HOME: home, HOLDPOINT_TOKEN: "secret" } });
  assert.equal(stdout.trim(), "2 3");
  const heard = await other.stop();
  assert.ok(heard.length > 0 && heard.every((line) => line === "somebody came"), heard.join("\n"));
  assert.match(stderr, /is another user's \(65534\); nothing was sent to it/);
  rmSync(home, { recursive: true });
});

test("another user's server that was named is sent calls", { skip }, async () => {
  const other = await thief();
  await program(CALLS, { env: { HOLDPOINT_URL: `http://127.0.0.1:${other.port}` } });
  const heard = await other.stop();
  assert.ok(heard.some((line) => line.includes("/api/")), heard.join("\n"));
});

test("the user at the other end is known", { skip: process.platform !== "linux" }, async () => {
  for (const host of ["127.0.0.1", "::1"]) {
    const server = createServer();
    await new Promise((ready) => server.listen(0, host, ready));
    const { port } = server.address();
    assert.deepEqual(whose(host, port), { known: true, ours: true, user: String(process.geteuid()) });
    server.close();
    await new Promise((done) => server.once("close", done));
    assert.equal(whose(host, port).known, false);
  }
});

test("a proof is what the server computes", () => {
  const home = mkdtempSync(join(tmpdir(), "holdpoint-trust-"));
  const before = process.env.HOLDPOINT_HOME;
  process.env.HOLDPOINT_HOME = home;
  assert.equal(question("127.0.0.1", 5174).isAnswer("{}"), false, "there is no key");
  writeFileSync(join(home, "key"), "a".repeat(64), { mode: 0o600 });
  const { path, isAnswer } = question("127.0.0.1", 5174);
  assert.match(path, /^\/api\/proof\?nonce=[0-9a-f]{32}$/);
  for (const wrong of ["", "{}", '{"proof":""}', `{"proof":"${"0".repeat(64)}"}`]) assert.equal(isAnswer(wrong), false);
  if (before === undefined) delete process.env.HOLDPOINT_HOME;
  else process.env.HOLDPOINT_HOME = before;
  rmSync(home, { recursive: true });
});

test("only servers of this machine are looked up", () => {
  assert.deepEqual(place("http://localhost:5174/api"), { host: "127.0.0.1", port: 5174 });
  assert.deepEqual(place("http://[::1]:80"), { host: "::1", port: 80 });
  assert.equal(place("http://box.example:5174"), null);
});
