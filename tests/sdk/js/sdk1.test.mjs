// The first line of the official SDK, end to end.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import * as sdk from "./sdk1.mjs";
import { suite } from "./suite.mjs";
import { BINARY, HANDSHAKE, Server, until } from "./support.mjs";

suite(sdk);

// Node's pipes are sockets; a client that keeps what the server says in a file mixes the two.
test("stdin may be a socket while stdout is a file", { timeout: 40_000 }, async () => {
  const server = new Server();
  try {
    const said = join(server.home, "stdout");
    const stdio = ["pipe", openSync(said, "w"), server.stderrFile];
    const child = spawn(BINARY, ["mcp", ...server.options], { env: server.env, stdio });
    server.adopt(child);
    await server.url; // It reads now, and there is nothing to read yet.
    const clientInfo = { name: "by hand", version: "1" };
    const params = { protocolVersion: HANDSHAKE, capabilities: {}, clientInfo };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    const line = await until(() => readFileSync(said, "utf8"), "an answer in the file");
    assert.equal(JSON.parse(line).result.serverInfo.name, "holdpoint");
    child.stdin.end();
    assert.equal(await server.exitCode(), 0);
    assert.equal(server.stderr, "");
  } finally {
    await server.dispose();
  }
});
