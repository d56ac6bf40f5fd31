// What the tests of both SDKs share: a server per test, a client as a test sees it, and waiting with a deadline.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export const BINARY = process.env.HOLDPOINT_BIN;

export const HANDSHAKE = "2025-11-25";
export const STATELESS = "2026-07-28";

export const NOTE = "notifications/timeline/note";
export const HIT = "notifications/breakpoint/hit";
export const STATE = "notifications/debug/session_state";
export const LOG = "notifications/message";
export const UPDATED = "notifications/resources/updated";

// stderr then tells how each call ended. What the SDK of the server says is judged where nothing is set.
export const TALKATIVE = "warn,rmcp=off,holdpoint=debug";

/** How a client reaches the server. */
export class Way {
  constructor(transport, revision) {
    this.transport = transport;
    this.revision = revision;
  }

  toString() {
    return `${this.transport} ${this.revision}`;
  }
}

/** One Holdpoint server, in a home of its own and on a port of its own. */
export class Server {
  constructor({ home, options = [], log } = {}) {
    this.home = home ?? mkdtempSync(join(tmpdir(), "holdpoint-sdk-"));
    this.extra = options;
    this.options = ["--port", "0", "--mcp-sse", ...options];
    // HOME too: a server also writes its port where older clients look for it.
    this.env = { HOLDPOINT_HOME: this.home, HOME: this.home, PATH: process.env.PATH };
    if (log) this.env.HOLDPOINT_LOG = log;
    this.stderrFile = openSync(join(this.home, "stderr"), "a");
    this.peers = [];
  }

  /** For clients that come over HTTP or SSE; over stdio the client starts it. */
  start() {
    const stdio = ["ignore", "ignore", this.stderrFile];
    this.adopt(spawn(BINARY, ["serve", ...this.options], { env: this.env, stdio }));
    return this;
  }

  /** The parameters of the SDK's stdio transport. */
  get stdioParameters() {
    return { command: BINARY, args: ["mcp", ...this.options], env: this.env, stderr: this.stderrFile };
  }

  /** Watches the process that is the server. */
  adopt(child) {
    this.child = child;
    this.exit = once(child, "exit").then(([code, signal]) => signal ?? code);
  }

  async connect(sdk, way, name = "node") {
    const peer = await within(sdk.open(this, way, name), 10_000, `${name} to connect over ${way}`);
    this.peers.push(peer);
    return peer;
  }

  /** The exit code, or the name of the signal that ended it. */
  exitCode(milliseconds = 5000) {
    return within(this.exit, milliseconds, "the server to end");
  }

  get url() {
    const file = join(this.home, "port");
    return until(() => existsSync(file) && readFileSync(file, "utf8"), "the port file").then(
      (port) => `http://127.0.0.1:${port}`,
    );
  }

  get stderr() {
    return readFileSync(join(this.home, "stderr"), "utf8");
  }

  get complaints() {
    return this.stderr.split("\n").filter((line) => /\b(WARN|ERROR)\b|panicked/.test(line));
  }

  said(text) {
    return until(() => this.stderr.includes(text), `\`${text}\` on stderr`);
  }

  /** Ends it and checks that it ended well: by itself when its stdio client goes, else when it is told to. */
  async endWell(transport) {
    for (const peer of this.peers.reverse()) await peer.close();
    if (transport !== "stdio") this.child.kill("SIGTERM");
    assert.equal(await this.exitCode(), 0);
    assert.ok(!existsSync(join(this.home, "port")), "the port file outlived the server");
    assert.deepEqual(this.complaints, []);
  }

  /** Whatever happened, nothing is left behind. */
  async dispose() {
    for (const peer of this.peers) await peer.close().catch(() => {});
    if (this.child?.exitCode === null) this.child.kill("SIGKILL");
    closeSync(this.stderrFile);
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** What the server sent unasked, in order of arrival. */
export class Inbox {
  heard = [];
  faults = [];

  put({ method, params }) {
    // The stateless revision marks whose subscription an update belongs to; the tests have one at a time.
    const { _meta, ...rest } = params;
    this.heard.push({ method, params: rest });
  }

  of(method) {
    return this.heard.filter((it) => it.method === method).map((it) => it.params);
  }

  wait(method, matches = () => true) {
    return until(() => this.of(method).find(matches), method);
  }

  note(text) {
    return this.wait(NOTE, (params) => params.data.text === text);
  }

  log(text) {
    return this.wait(LOG, (params) => params.data.data.text === text);
  }

  count(method, number) {
    return until(() => this.of(method).length >= number, `${number} times ${method}`);
  }
}

/** A connected client: what both SDKs do alike. */
export class Peer {
  constructor(client, transport, way, inbox) {
    this.client = client;
    this.transport = transport;
    this.way = way;
    this.inbox = inbox;
    this.open = true;
    client.fallbackNotificationHandler = async (notification) => inbox.put(notification);
    client.onerror = (error) => this.open && inbox.faults.push(error);
  }

  async connect(server) {
    await this.client.connect(this.transport);
    // The transport keeps its process to itself, and only the process knows how it ended.
    if (this.way.transport === "stdio") server.adopt(this.transport._process);
    return this;
  }

  get hello() {
    const { name, version } = this.client.getServerVersion();
    return {
      name,
      version,
      instructions: this.client.getInstructions(),
      capabilities: this.client.getServerCapabilities(),
    };
  }

  async call(tool, args = {}, options = {}) {
    const result = await this.callTool({ name: tool, arguments: args }, { timeout: 30_000, ...options });
    assert.equal(result.content.length, 1);
    const { isError: failed, structuredContent: envelope } = result;
    return { failed, text: result.content[0].text, envelope, data: envelope.data, seq: envelope.meta.seq };
  }

  async note(text) {
    return (await this.call("timeline_note", { text })).data.seq;
  }

  async status() {
    return (await this.call("server_status")).data;
  }

  async events(since, kinds, options = {}) {
    return (await this.call("timeline_query", { since, kinds, timeout_s: 5, ...options })).data.events;
  }

  async close() {
    if (!this.open) return;
    this.open = false;
    // Only its user knows whether a session is to end with the connection.
    if (this.way.transport === "http" && this.way.revision === HANDSHAKE) await this.transport.terminateSession();
    await this.client.close();
    assert.deepEqual(this.inbox.faults, []);
  }
}

/** The SDK's transport for that way; the two SDKs make them alike. */
export async function makeTransport({ Stdio, Sse, Http }, server, way) {
  switch (way.transport) {
    case "stdio":
      return new Stdio(server.stdioParameters);
    case "sse":
      return new Sse(new URL(`${await server.url}/mcp/sse`));
    case "http":
      return new Http(new URL(`${await server.url}/mcp`));
  }
}

/** Looks until there is something to see. */
export async function until(look, what, milliseconds = 5000) {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const seen = look();
    if (seen) return seen;
    if (performance.now() > deadline) throw new Error(`waited ${milliseconds} ms for ${what}`);
    await pause(5);
  }
}

export async function within(promise, milliseconds, what) {
  const stop = new AbortController();
  const late = pause(milliseconds, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`waited ${milliseconds} ms for ${what}`);
  });
  late.catch(() => {}); // Also when it is the one that was stopped.
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
  }
}

export function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (error.code === "ESRCH") return false;
    throw error;
  }
}
