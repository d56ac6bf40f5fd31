// The tests, once for each SDK, transport and revision. What a revision does not have is left out of its list
// of ways, by construction: no test decides to skip.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { hitting } from "./hits.mjs";
import {
  BINARY,
  HANDSHAKE,
  LOG,
  NOTE,
  STATELESS,
  Server,
  TALKATIVE,
  UPDATED,
  Way,
  isRunning,
  until,
  within,
} from "./support.mjs";

const TRANSPORTS = ["stdio", "sse", "http"];
const CALLS_IN_FLIGHT = 64;
// The end of a connection is noticed at once. The server's SDK alone would wait 5 s for what is still open.
const NOTICED_S = 3;

export function suite(sdk) {
  const ways = sdk.revisions.flatMap((revision) => TRANSPORTS.map((transport) => new Way(transport, revision)));
  // 2026-07-28 has no custom notifications, no logging/setLevel, and no log message outside a request.
  const handshakeWays = ways.filter((way) => way.revision === HANDSHAKE);
  // A stateless HTTP client is one request at a time: it never connects and never leaves.
  const isLasting = (way) => way.transport !== "http" || way.revision === HANDSHAKE;
  const lastingWays = ways.filter(isLasting);
  const stdioWays = ways.filter((way) => way.transport === "stdio");
  // Over stdio the server ends with its client, so nobody is left to see it go.
  const seenLeavingWays = lastingWays.filter((way) => way.transport !== "stdio");

  /** One test for each way, each with a server that must be well when the test is over. */
  function each(some, title, body, settings = {}) {
    for (const way of some) {
      test(`${title} [${way}]`, { timeout: 40_000 }, async () => {
        const server = new Server(settings);
        try {
          if (way.transport !== "stdio") server.start();
          await body(server, way);
          await server.endWell(way.transport);
        } finally {
          await server.dispose();
        }
      });
    }
  }

  connecting({ sdk, each, ways, lastingWays, stdioWays, seenLeavingWays });
  listing({ sdk, each, ways });
  calling({ sdk, each, ways });
  pushing({ sdk, each, ways, handshakeWays });
  hitting({ sdk, each, ways, handshakeWays });
  waiting({ sdk, each, ways, handshakeWays });
  together({ sdk, each, ways, stdioWays, isLasting });
}

function connecting({ sdk, each, ways, lastingWays, stdioWays, seenLeavingWays }) {
  each(ways, "the server says who it is and what it can", async (server, way) => {
    const client = await server.connect(sdk, way);
    const { name, version, capabilities } = client.hello;
    assert.equal(`${name} ${version}`, execFileSync(BINARY, ["--version"], { encoding: "utf8" }).trim());
    assert.equal(client.protocol, way.revision);
    assert.deepEqual(capabilities, {
      completions: {},
      logging: {},
      prompts: {},
      resources: { subscribe: true },
      tools: {},
    });
  });

  each(ways, "the instructions name what exists", async (server, way) => {
    const client = await server.connect(sdk, way);
    const named = new Set(client.hello.instructions.match(/(?<=`)[a-z]+_[a-z_]+(?=`)/g));
    assert.ok(named.has("timeline_query"));
    const { tools } = await client.client.listTools();
    for (const name of named) assert.ok(tools.some((tool) => tool.name === name), name);
  });

  each(lastingWays, "a client is listed by its own name", async (server, way) => {
    const client = await server.connect(sdk, way, "an agent");
    const status = await client.status();
    assert.equal(status.clients, 1);
    const [{ name, transport, protocol }] = status.client_list;
    assert.deepEqual([name, transport, protocol], ["an agent", way.transport, way.revision]);
  });

  each(seenLeavingWays, "a client is seen to come and to go", async (server, way) => {
    const observer = await server.connect(sdk, new Way("http", HANDSHAKE), "observer");
    const { seq } = await observer.call("server_status");
    const brief = await server.connect(sdk, way, "brief"); // It does nothing else.
    const [came] = await observer.events(seq, ["client_connected"]);
    assert.deepEqual(await names(observer), ["observer", "brief"]);
    await brief.close();
    const [left] = await observer.events(came.seq, ["client_left"]);
    for (const event of [came, left]) {
      assert.deepEqual([event.data.name, event.data.transport], ["brief", way.transport]);
    }
    assert.deepEqual(await names(observer), ["observer"]);
  });

  each(stdioWays, "closing the client ends its server", async (server, way) => {
    const client = await server.connect(sdk, way);
    const { pid } = await client.status();
    assert.ok(isRunning(pid));
    // The SDK waits 2 s for the server and then kills it.
    await within(client.close(), 1000, "the client to close");
    assert.equal(await server.exitCode(), 0);
    assert.ok(!isRunning(pid));
    assert.equal(server.stderr, "");
  });

  each(stdioWays, "closing with a call and a subscription open ends the server too", async (server, way) => {
    const client = await server.connect(sdk, way);
    await client.watch("holdpoint://timeline");
    // Whether the call still gets an answer that says so, or none, does not matter.
    const open = Promise.allSettled([client.call("timeline_query", { since: 1000, timeout_s: 60 })]);
    await client.status(); // The server reads in order, so it has taken the waiting call.
    await within(client.close(), 1000, "the client to close");
    assert.equal(await server.exitCode(), 0);
    await open;
  });
}

function listing({ sdk, each, ways }) {
  each(ways, "every tool says what it does and takes, as on the command line", async (server, way) => {
    const client = await server.connect(sdk, way);
    const { tools } = await client.client.listTools();
    assert.deepEqual(tools, JSON.parse(execFileSync(BINARY, ["tools", "--json"], { encoding: "utf8" })));
    for (const tool of tools) {
      assert.ok(tool.description.length > 20 && tool.title);
      assert.equal(tool.inputSchema.type, "object");
      assert.equal(tool.outputSchema, undefined);
    }
    const tool = Object.fromEntries(tools.map((it) => [it.name, it]));
    assert.equal(tool.timeline_query.annotations.readOnlyHint, true);
    assert.equal(tool.timeline_note.annotations.readOnlyHint, false);
    const { properties } = tool.timeline_query.inputSchema;
    const types = Object.fromEntries(Object.entries(properties).map(([name, it]) => [name, it.type]));
    assert.deepEqual(types, {
      since: "integer",
      until: "integer",
      kinds: "array",
      match: "string",
      limit: "integer",
      run: "integer",
      timeout_s: "number",
      session_id: "string",
      budget_tokens: "integer",
    });
    assert.ok(tool.debug_wait.inputSchema.properties.since.description);
    assert.deepEqual(tool.timeline_note.inputSchema.required, ["text"]);
  });

  each(ways, "resources are listed and read what the tools say, also the second time", async (server, way) => {
    const client = await server.connect(sdk, way);
    const { resources } = await client.client.listResources();
    const { resourceTemplates } = await client.client.listResourceTemplates();
    const listed = [...resources.map((it) => it.uri), ...resourceTemplates.map((it) => it.uriTemplate)];
    for (const uri of ["holdpoint://status", "holdpoint://timeline", "holdpoint://timeline/{kind}"]) {
      assert.ok(listed.includes(uri), uri);
    }
    for (const it of [...resources, ...resourceTemplates]) assert.ok(it.name && it.description && it.mimeType);
    const notes = async () => JSON.parse(await read(client, "holdpoint://timeline/note")).events;
    assert.deepEqual(await notes(), []);
    const seq = await client.note("read me");
    const [note] = await notes();
    assert.deepEqual([note.seq, note.kind, note.data], [seq, "note", { text: "read me", by: "node" }]);
    const { events } = JSON.parse(await read(client, "holdpoint://timeline"));
    assert.equal(events[0].kind, "server_started");
    assert.deepEqual(events.at(-1), note);
    assert.equal(JSON.parse(await read(client, "holdpoint://status")).pid, (await client.status()).pid);
  });

  each(ways, "what is unknown is refused with a hint", async (server, way) => {
    const client = await server.connect(sdk, way);
    const uri = "holdpoint://nothing";
    const unknown = await refusal(client.client.readResource({ uri }));
    assert.match(unknown.message, /holdpoint:\/\/nothing/);
    sdk.checkResourceNotFound(unknown, uri, way);
    const prompt = await refusal(client.client.getPrompt({ name: "review-timelin" }));
    assert.equal(prompt.code, -32602);
    assert.match(prompt.data.hint, /review-timeline/);
    const kind = await refusal(client.client.getPrompt({ name: "review-timeline", arguments: { kind: "nose" } }));
    assert.match(kind.data.hint, /did you mean `note`\?/);
  });

  each(ways, "a prompt holds the events it is asked for", async (server, way) => {
    const client = await server.connect(sdk, way);
    await client.note("stands out");
    const { prompts } = await client.client.listPrompts();
    const review = prompts.find((prompt) => prompt.name === "review-timeline");
    assert.deepEqual(review.arguments.map(({ name, required }) => [name, required]), [["kind", false]]);
    const text = async (args) => {
      const { messages } = await client.client.getPrompt({ name: "review-timeline", arguments: args });
      assert.deepEqual(messages.map((message) => message.role), ["user"]);
      return messages[0].content.text;
    };
    assert.match(await text({}), /server_started[^]*stands out/);
    const notes = await text({ kind: "note" });
    assert.match(notes, /stands out/);
    assert.doesNotMatch(notes, /server_started/);
  });

  each(ways, "kinds are completed", async (server, way) => {
    const client = await server.connect(sdk, way);
    const refs = [
      { type: "ref/prompt", name: "review-timeline" },
      { type: "ref/resource", uri: "holdpoint://timeline/{kind}" },
    ];
    for (const ref of refs) {
      const complete = async (value) => {
        const { completion } = await client.client.complete({ ref, argument: { name: "kind", value } });
        return completion;
      };
      const everything = await complete("");
      for (const kind of ["server_started", "client_connected", "client_left", "note"]) {
        assert.ok(everything.values.includes(kind), kind);
      }
      assert.equal(everything.total, everything.values.length);
      const { values, total, hasMore } = await complete("client_l");
      assert.deepEqual([values, total, hasMore], [["client_left"], 1, false]);
      assert.deepEqual((await complete("x")).values, []);
    }
  });
}

function calling({ sdk, each, ways }) {
  each(ways, "an answer is text and the same in an envelope", async (server, way) => {
    const client = await server.connect(sdk, way);
    const first = await client.call("timeline_note", { text: "one" });
    const second = await client.call("timeline_note", { text: "two" });
    assert.deepEqual(Object.keys(first.envelope).sort(), ["data", "meta", "ok", "text", "type"]);
    assert.deepEqual([first.envelope.ok, first.envelope.type], [true, "success"]);
    assert.deepEqual(first.data, { seq: first.seq, by: "node" });
    assert.equal(first.text, `noted as seq ${first.seq}: one`);
    assert.equal(second.seq, first.seq + 1);
    const { requestId, timestamp, duration } = first.envelope.meta;
    assert.notEqual(requestId, second.envelope.meta.requestId);
    const age = Date.now() - Date.parse(timestamp);
    assert.ok(-50 < age && age < 30_000, timestamp);
    assert.ok(0 < duration && duration < 1000);
    const query = await client.call("timeline_query", { since: first.seq - 1, kinds: ["note"] });
    assert.deepEqual(query.data.events.map((event) => event.data.text), ["one", "two"]);
    assert.equal(query.data.next_since, query.seq);
    const lines = query.text.split("\n").map((line) => line.split(" ").slice(2).join(" "));
    assert.deepEqual(lines, ["note node: one", "note node: two"]);
  });

  each(ways, "a failure says what and what next", async (server, way) => {
    const client = await server.connect(sdk, way);
    const cases = [
      ["timeline_query", { knids: [] }, "E_INVALID_PARAMS", "unknown parameter `knids`", "did you mean `kinds`?"],
      ["timeline_qery", {}, "E_UNKNOWN_TOOL", "no tool `timeline_qery`", "did you mean `timeline_query`?"],
      ["timeline_note", {}, "E_INVALID_PARAMS", "missing parameter `text`", "pass `text` (string)"],
      ["timeline_query", { kinds: ["nose"] }, "E_INVALID_PARAMS", "of kind `nose`", "did you mean `note`?"],
      ["timeline_query", { since: "soon" }, "E_INVALID_PARAMS", "parameter `since` of `timeline_query`", "integer"],
      ["timeline_query", { timeout_s: 9999 }, "E_INVALID_PARAMS", "`timeout_s`", "3600"],
    ];
    for (const [tool, args, code, message, hint] of cases) {
      const answer = await client.call(tool, args);
      assert.equal(answer.failed, true, tool);
      assert.deepEqual(Object.keys(answer.envelope).sort(), ["error", "meta", "ok", "text", "type"]);
      assert.deepEqual([answer.envelope.ok, answer.envelope.type], [false, "error"]);
      const { error } = answer.envelope;
      assert.equal(error.code, code);
      assert.ok(error.message.includes(message), error.message);
      // The next step is always there, and always on a line of its own.
      assert.equal(answer.text, `[${code}] ${error.message}\nhint: ${error.hint}`);
      assert.ok(answer.text.includes(hint), answer.text);
    }
    assert.ok((await client.status()).pid);
  });

  each(ways, "fifty calls at once all get their own answer", async (server, way) => {
    const client = await server.connect(sdk, way);
    const texts = Array.from({ length: 50 }, (_, number) => `note ${number}`);
    const seqs = await within(Promise.all(texts.map((text) => client.note(text))), 10_000, "fifty answers");
    const query = await client.call("timeline_query", { kinds: ["note"], budget_tokens: 20_000 });
    assert.equal(query.data.more, 0);
    const bySeq = (a, b) => a[0] - b[0];
    assert.deepEqual(
      query.data.events.map((event) => [event.seq, event.data.text]),
      texts.map((text, number) => [seqs[number], text]).sort(bySeq),
    );
  });

  each(ways, "the usual answer does not wait for a delayed acknowledgement", async (server, way) => {
    const client = await server.connect(sdk, way);
    const taken = [];
    for (let call = 0; call < 40; call += 1) {
      const started = performance.now();
      await client.status();
      taken.push(performance.now() - started);
    }
    // One costs 40 ms, and without TCP_NODELAY most calls over streamable HTTP meet one.
    const median = taken.sort((a, b) => a - b)[taken.length / 2];
    assert.ok(median < 35, `${median} ms`);
  });
}

function pushing({ sdk, each, ways, handshakeWays }) {
  each(handshakeWays, "a note is announced once as ours and once as a log message", async (server, way) => {
    const client = await server.connect(sdk, way);
    const seq = await client.note("one");
    await client.note("two");
    await client.inbox.log("two"); // The last of four.
    assert.deepEqual(client.inbox.heard.map((it) => it.method), [NOTE, LOG, NOTE, LOG]);
    const [note] = client.inbox.of(NOTE);
    assert.deepEqual(Object.keys(note).sort(), ["at", "data", "kind", "seq"]);
    assert.deepEqual([note.seq, note.kind, note.data], [seq, "note", { text: "one", by: "node" }]);
    assert.deepEqual(client.inbox.of(LOG)[0], { level: "notice", logger: "holdpoint.timeline", data: note });
  });

  each(handshakeWays, "a note made right after connecting is announced", async (server, way) => {
    const client = await server.connect(sdk, way);
    await client.note("early");
    await client.inbox.note("early");
  });

  each(handshakeWays, "the level keeps log messages away and nothing else", async (server, way) => {
    const client = await server.connect(sdk, way);
    await client.client.setLoggingLevel("warning");
    await client.note("quiet");
    await client.inbox.note("quiet");
    await client.client.setLoggingLevel("notice");
    await client.note("loud");
    await client.inbox.log("loud");
    assert.deepEqual(client.inbox.of(LOG).map((log) => log.data.data.text), ["loud"]);
  });

  each(ways, "a watched resource is told of until it is no longer watched", async (server, way) => {
    const client = await server.connect(sdk, way);
    await client.status(); // Its own coming is over and not heard of.
    const endFirst = await client.watch("holdpoint://timeline");
    await client.note("seen");
    assert.deepEqual(await client.inbox.wait(UPDATED), { uri: "holdpoint://timeline" });
    await endFirst();
    const endSecond = await client.watch("holdpoint://timeline/note");
    await client.note("seen by the other");
    await client.inbox.wait(UPDATED, (params) => params.uri === "holdpoint://timeline/note");
    const uris = client.inbox.of(UPDATED).map((params) => params.uri);
    assert.deepEqual(uris, ["holdpoint://timeline", "holdpoint://timeline/note"]);
    await endSecond();
  });

  each(ways, "a change right after the subscription is told", async (server, way) => {
    const client = await server.connect(sdk, way);
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const end = await client.watch("holdpoint://timeline/note");
      await client.note(`early ${attempt}`);
      await client.inbox.count(UPDATED, attempt);
      await end();
    }
  });
}

function waiting({ sdk, each, ways, handshakeWays }) {
  each(ways, "a waiting call is answered by the event it waits for", async (server, way) => {
    const client = await server.connect(sdk, way);
    const { seq: since } = await client.call("server_status");
    const events = client.events(since, ["note"], { timeout_s: 30 });
    await client.status();
    const started = performance.now();
    const seq = await client.note("at last");
    assert.deepEqual((await events).map((event) => [event.seq, event.data.text]), [[seq, "at last"]]);
    assert.ok(performance.now() - started < 1000);
  });

  test("a waiting call shows that it is alive every ten seconds [all ways at once]", { timeout: 40_000 }, () =>
    Promise.all(ways.map((way) => waitForASign(sdk, way))),
  );

  each(
    ways,
    "cancelling ends the work and hurts nothing else",
    async (server, way) => {
      const client = await server.connect(sdk, way);
      const { seq: since } = await client.call("server_status");
      const wait = { since, kinds: ["note"], timeout_s: 60 };
      const abort = new AbortController();
      const cancelled = assert.rejects(client.call("timeline_query", wait, { signal: abort.signal }), /abort/i);
      const kept = client.call("timeline_query", wait);
      await client.status();
      const started = performance.now();
      abort.abort("aborted by the test");
      await cancelled;
      await client.status();
      assert.ok(performance.now() - started < 1000);
      await server.said("[E_CANCELLED] `timeline_query` was cancelled");
      await client.note("for the one that is left");
      assert.deepEqual((await kept).data.events.map((event) => event.kind), ["note"]);
      assert.equal(server.stderr.match(/E_CANCELLED/g).length, 1);
    },
    { log: TALKATIVE },
  );

  // The bound is per connection, and a stateless HTTP client has none.
  each(handshakeWays, "cancelling makes room for other calls", async (server, way) => {
    const client = await server.connect(sdk, way);
    const abort = new AbortController();
    const pending = Array.from({ length: CALLS_IN_FLIGHT }, () =>
      client.call("timeline_query", { since: 1000, timeout_s: 60 }, { signal: abort.signal }),
    );
    const settled = Promise.allSettled(pending);
    const refused = await callUntil(client, (answer) => answer.failed);
    assert.ok(refused.text.startsWith(`[E_BUSY] ${CALLS_IN_FLIGHT} calls are under way already\nhint: `), refused.text);
    abort.abort();
    assert.ok((await settled).every((call) => call.status === "rejected"));
    const answer = await callUntil(client, (answer) => !answer.failed);
    assert.ok(answer.data.pid);
  });
}

function together({ sdk, each, ways, stdioWays, isLasting }) {
  // The first client is the one that starts the server when it comes by stdio, so the second never does.
  const pairs = [
    ["stdio", "http"],
    ["stdio", "sse"],
    ["sse", "http"],
  ];
  for (const [first, second] of pairs) {
    for (const revision of sdk.revisions) {
      for (const other of sdk.revisions) {
        const secondWay = new Way(second, other);
        const title = `two clients see each other and each other's notes, the second by ${secondWay}`;
        each([new Way(first, revision)], title, async (server, way) => {
          await seeEachOther(
            await server.connect(sdk, way, "first"),
            await server.connect(sdk, secondWay, "second"),
            isLasting,
          );
        });
      }
    }
  }

  for (const way of ways) {
    const title = `a client killed in the middle of a call is no harm to another [${way}]`;
    test(title, { timeout: 40_000 }, () => killBesideAnother(sdk, way));
  }

  for (const way of stdioWays) {
    test(`the server of a killed client ends by itself [${way}]`, { timeout: 40_000 }, async () => {
      const server = new Server({ log: TALKATIVE });
      const victim = await startVictim(sdk, server, way);
      try {
        victim.kill("SIGKILL");
        await until(() => !isRunning(victim.serverPid), "the server to end", NOTICED_S * 1000);
        assert.deepEqual(server.complaints, []);
      } finally {
        endVictim(victim, way);
        await server.dispose();
      }
    });
  }
}

async function waitForASign(sdk, way) {
  const server = new Server();
  try {
    if (way.transport !== "stdio") server.start();
    const client = await server.connect(sdk, way);
    const { seq: since } = await client.call("server_status");
    const signs = [];
    const signed = new Promise((resolve) => {
      const onprogress = (progress) => resolve(signs.push(progress));
      client.waiting = client.call("timeline_query", { since, kinds: ["note"], timeout_s: 30 }, { onprogress });
    });
    await within(signed, 15_000, "a sign of life");
    await client.note("enough");
    const { data } = await client.waiting;
    assert.deepEqual(data.events.map((event) => event.data.text), ["enough"]);
    assert.equal(signs.length, 1);
    const [{ progress, total, message }] = signs;
    assert.ok(9.5 < progress && progress < 12, `${progress}`);
    assert.equal(total, 30);
    assert.equal(message, `waiting for an event after seq ${since}`);
    await server.endWell(way.transport);
  } finally {
    await server.dispose();
  }
}

async function seeEachOther(one, two, isLasting) {
  const { seq: since } = await one.call("server_status");
  for (const client of [one, two]) await client.watch("holdpoint://timeline/note");
  await one.note("from the first");
  await two.note("from the second");
  const lasting = [one, two].filter((client) => isLasting(client.way));
  for (const client of [one, two]) {
    await client.inbox.wait(UPDATED);
    const events = await client.events(since, ["note"]);
    assert.deepEqual(
      events.map((event) => [event.data.text, event.data.by]),
      [
        ["from the first", "first"],
        ["from the second", "second"],
      ],
    );
    if (client.way.revision === HANDSHAKE) {
      assert.equal((await client.inbox.note("from the first")).data.by, "first");
      assert.equal((await client.inbox.note("from the second")).data.by, "second");
    }
    const rows = (await client.status()).client_list.map((row) => `${row.name} ${row.transport} ${row.protocol}`);
    const expected = lasting.map((it) => `${it === one ? "first" : "second"} ${it.way}`);
    assert.deepEqual(rows.sort(), expected.sort());
  }
}

async function killBesideAnother(sdk, way) {
  // Over stdio the victim starts the server; this one is told to outlive it.
  const server = new Server({ options: way.transport === "stdio" ? ["--keep-alive"] : [], log: TALKATIVE });
  let victim;
  try {
    if (way.transport !== "stdio") server.start();
    victim = await startVictim(sdk, server, way);
    const observer = await server.connect(sdk, new Way("http", HANDSHAKE), "observer");
    const { seq } = await observer.call("server_status");
    victim.kill("SIGKILL");
    if (way.transport !== "http") {
      // A streamable HTTP session outlives its connections, and a stateless client has none.
      const [left] = await observer.events(seq, ["client_left"], { timeout_s: NOTICED_S });
      assert.deepEqual([left.data.name, left.data.transport], ["victim", way.transport]);
      assert.deepEqual(await names(observer), ["observer"]);
    }
    if (way.transport !== "http" || way.revision === STATELESS) {
      // Nobody waits for the answer, so nobody works on it. A session's client may come back for it.
      await server.said("[E_CANCELLED] `timeline_query` was cancelled");
    }
    await observer.note("still here");
    await observer.inbox.note("still here");
    await observer.close();
    process.kill(victim.serverPid, "SIGTERM");
    await until(() => !isRunning(victim.serverPid), "the server to end");
    assert.deepEqual(server.complaints, []);
  } finally {
    endVictim(victim, way);
    await server.dispose();
  }
}

/** A client in a process of its own, with a call that waits and a subscription that is open. */
async function startVictim(sdk, server, way) {
  const script = fileURLToPath(new URL("victim.mjs", import.meta.url));
  const args = [script, sdk.name, server.home, way.transport, way.revision, ...server.extra];
  const victim = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await within(once(victim.stdout, "data"), 10_000, "the victim to wait");
  victim.serverPid = Number(line);
  return victim;
}

function endVictim(victim, way) {
  victim?.kill("SIGKILL");
  if (victim && way.transport === "stdio" && isRunning(victim.serverPid)) process.kill(victim.serverPid, "SIGKILL");
}

async function names(observer) {
  return (await observer.status()).client_list.map((row) => row.name);
}

async function read(client, uri) {
  const { contents } = await client.client.readResource({ uri });
  assert.equal(contents.length, 1);
  assert.equal(contents[0].mimeType, "application/json");
  return contents[0].text;
}

async function refusal(promise) {
  return promise.then(
    () => assert.fail("it was not refused"),
    (error) => error,
  );
}

async function callUntil(client, matches) {
  const deadline = performance.now() + 5000;
  for (;;) {
    const answer = await client.call("server_status");
    if (matches(answer)) return answer;
    assert.ok(performance.now() < deadline, `still ${answer.text}`);
  }
}
