// The second line of the official SDK, end to end: in its default mode, and negotiating 2026-07-28.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import * as sdk from "./client2.mjs";
import { suite } from "./suite.mjs";
import { BINARY, STATELESS, Server, Way } from "./support.mjs";

suite(sdk);

// Over HTTP this SDK ends a subscription twice: it closes the stream, and then posts `notifications/cancelled`
// without the headers of a request. The revision says nothing about headers of notifications.
test("the SDK is content with the end of its subscription [http 2026-07-28]", { timeout: 40_000 }, async () => {
  const server = new Server().start();
  try {
    const { client, inbox } = await server.connect(sdk, new Way("http", STATELESS));
    const subscription = await client.listen({ resourceSubscriptions: ["holdpoint://timeline"] });
    await subscription.close();
    assert.deepEqual(inbox.faults.map(String), []);
    await server.endWell("http");
  } finally {
    await server.dispose();
  }
});

// To negotiate over stdio this SDK starts a second server and ends it so: stdin, and SIGTERM in the same moment.
test("a server that is ended twice at once leaves no port file behind", { timeout: 40_000 }, async () => {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const server = new Server();
    try {
      const child = spawn(BINARY, ["mcp", ...server.options], { env: server.env, stdio: ["pipe", "pipe", "inherit"] });
      server.adopt(child);
      await server.url;
      child.stdin.end();
      child.kill("SIGTERM");
      assert.equal(await server.exitCode(), 0);
      assert.ok(!existsSync(join(server.home, "port")));
    } finally {
      await server.dispose();
    }
  }
});
