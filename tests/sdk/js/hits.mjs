// A real program stops at a breakpoint, and the official client hears of it without asking.

import assert from "node:assert/strict";
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { HIT, LOG, STATE, UPDATED } from "./support.mjs";

const PROGRAM = "let total = 0;\nfor (let i = 0; i < 3; i++) {\n  total += i;\n}\n";
const LINE = 3;

/** The arguments that launch it and run it to its breakpoint. */
function launch(server) {
  const file = join(realpathSync(server.home), "program.js");
  writeFileSync(file, PROGRAM);
  return { program: file, breakpoints: [{ file, line: LINE }], stop_on_entry: false };
}

export function hitting({ sdk, each, ways, handshakeWays }) {
  each(handshakeWays, "each hit is heard once, in order, with its place", async (server, way) => {
    const client = await server.connect(sdk, way);
    const program = launch(server);
    const stopped = await client.call("debug_launch", program);
    assert.equal(stopped.data.state, "stopped");
    await client.call("debug_continue");
    await client.call("debug_continue");
    await client.inbox.count(HIT, 3);
    const hits = client.inbox.of(HIT);
    assert.deepEqual(hits.map((hit) => hit.hit_count), [1, 2, 3]);
    const [first] = hits;
    assert.deepEqual([first.breakpoint_id, first.type, first.session_id], [1, "breakpoint", "s1"]);
    assert.deepEqual([first.location.file, first.location.line], [program.program, LINE]);
    assert.equal(first.seq, stopped.data.seq);
    assert.ok(first.timestamp && first.thread_id);
    // The same for those that drop what they do not know.
    const logged = await client.inbox.wait(LOG, (log) => log.data.kind === "stopped");
    assert.equal(logged.data.data.line, LINE);
    await client.call("debug_stop");
    await client.inbox.wait(STATE, (state) => state.new === "ended");
    assert.equal(client.inbox.of(HIT).length, 3);
  });

  each(ways, "a stop changes the resource that is watched", async (server, way) => {
    const client = await server.connect(sdk, way);
    const end = await client.watch("holdpoint://timeline/stopped");
    await client.call("debug_launch", launch(server));
    assert.deepEqual(await client.inbox.wait(UPDATED), { uri: "holdpoint://timeline/stopped" });
    await end();
    await client.call("debug_stop");
  });

  each(ways, "waiting for a breakpoint is answered by its hit", async (server, way) => {
    const client = await server.connect(sdk, way);
    const stopped = await client.call("debug_launch", launch(server));
    await client.call("debug_continue", { timeout_s: 0 });
    const hit = await client.call("breakpoint_wait", { since: stopped.data.seq, ids: [1] });
    assert.deepEqual([hit.data.hit, hit.data.hit_count], [true, 2]);
    await client.call("debug_stop");
  });
}
