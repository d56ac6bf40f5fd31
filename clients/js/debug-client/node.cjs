// What only Node has: the port file, requests that do not keep a program alive, and requests that block the thread as a
// synchronous call must.
"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const crypto = require("node:crypto");
const fs = require("node:fs");
const http = require("node:http");
const https = require("node:https");
const { homedir } = require("node:os");
const { join } = require("node:path");
const { clearTimeout, setImmediate, setTimeout } = require("node:timers");
const { MessageChannel, Worker, receiveMessageOnPort, threadId } = require("node:worker_threads");

const { homeKey, place, question, says, strange, whose } = require("./trust.cjs");

// The number of the call that is not inside another, in whatever it starts and awaits.
const inside = new AsyncLocalStorage();
let lastTask = 0;

const currentTask = () => ({ thread_id: threadId, task: inside.getStore() ?? (lastTask += 1) });

const runInTask = ({ task }, work) => inside.run(task, work);

const sha512 = (text) => crypto.createHash("sha512").update(text).digest("hex");

function token() {
  const { HOLDPOINT_TOKEN: given, HOLDPOINT_TOKEN_FILE: file } = process.env;
  if (given || !file) return given || null;
  try {
    return fs.readFileSync(file, "utf8").trim() || null;
  } catch {
    return null;
  }
}

// The server that somebody named, and the one that is merely there.
const namedAddress = () => process.env.HOLDPOINT_URL || process.env.CIDELDILL_SERVER_URL || undefined;

function portAddress() {
  const { env } = process;
  // `holdpoint run` found it for this app; nobody named it.
  if (env.HOLDPOINT_FOUND) return env.HOLDPOINT_FOUND;
  const files = [
    env.CIDELDILL_PORT_FILE,
    env.HOLDPOINT_HOME && join(env.HOLDPOINT_HOME, "port"),
    env.CIDELDILL_HOME && join(env.CIDELDILL_HOME, "port"),
    !env.HOLDPOINT_HOME && join(home(), ".holdpoint", "port"),
    !env.CIDELDILL_HOME && join(home(), ".cideldill", "port"),
  ];
  for (const file of files) {
    const port = file && readPort(file);
    if (port) return `http://localhost:${port}`;
  }
  return undefined;
}

function home() {
  try {
    return homedir();
  } catch {
    // A user that the system does not know.
    return "/";
  }
}

function readPort(file) {
  try {
    // Not of a pipe: there may be nobody who ever writes into it.
    if (!fs.statSync(file).isFile()) return null;
    // A line for each server that lives, the newest first; one that was killed is named still.
    const ports = fs.readFileSync(file, "latin1").slice(0, 512).split(/\s+/).filter(Boolean).map(Number);
    if (!ports.every((port) => Number.isInteger(port) && port > 0 && port < 65_536)) return null;
    return ports.find((port) => !isRefused(port)) ?? ports[0] ?? null;
  } catch {
    return null;
  }
}

// Where nobody listened a moment ago, by the port.
const refused = new Map();
const REFUSED_MS = 5_000;
const isRefused = (port) => Date.now() - (refused.get(port) ?? -Infinity) < REFUSED_MS;

// Connects, and looks whose the other end is before anything is sent there.
class Careful extends http.Agent {
  createConnection(options, done) {
    const at = place(`http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${options.port}`);
    if (options.named || at === null) return super.createConnection(options, done);
    const socket = super.createConnection(options);
    const failed = (error) => done(error);
    socket.once("error", failed);
    socket.once("connect", () => {
      socket.off("error", failed);
      const found = whose(at.host, at.port, socket.localPort);
      // Where the system does not say, who asked has had it proven.
      if (found.ours || (!found.known && proven.has(`${at.host}:${at.port}`))) return done(null, socket);
      socket.destroy();
      return done(strange(at.host, at.port, found));
    });
    return undefined;
  }
}

// Servers that have shown that they have the key of this user's home, where the system does not say whose they are.
const proven = new Set();

// What is needed beside the connection's own check: nothing where the system says whose a server is.
async function proveFirst(address, named) {
  const at = named || says ? null : place(address);
  if (at === null || proven.has(`${at.host}:${at.port}`)) return;
  const { path, isAnswer } = question(at.host, at.port);
  const answer = await once("GET", new URL(path, address).href, {}, undefined, { patience: PROOF_MS, named: true });
  if (!isAnswer(answer.text)) throw strange(at.host, at.port, { known: false });
  proven.add(`${at.host}:${at.port}`);
}

const PROOF_MS = 5_000;

// What such a server is shown where there is no token: it cannot know either whose we are.
const shown = (address, headers) => {
  if (says) return headers;
  const at = place(address);
  const isProven = at !== null && proven.has(`${at.host}:${at.port}`);
  return isProven && !headers.Authorization ? { ...headers, Authorization: `Bearer ${homeKey()}` } : headers;
};

// Whether a server that the user named is another user's.
function isStrange(address) {
  const at = place(address);
  return at !== null && !whose(at.host, at.port).ours && !proven.has(`${at.host}:${at.port}`);
}

// Those that the app waits for, and those behind it, whose connections do not keep it alive.
const agents = {
  "http:": [new Careful({ keepAlive: true }), new Careful({ keepAlive: true })],
  "https:": [new https.Agent({ keepAlive: true }), new https.Agent({ keepAlive: true })],
};

// `{status, text}`; rejects when there is none in time.
async function request(method, address, headers, body, { again = true, ...options }) {
  await proveFirst(address, options.named);
  return once(method, address, headers, body, options).catch((error) => {
    // An idle connection may have been closed before our request was read; nothing came of that.
    if (!again || !error.idle) throw error;
    return once(method, address, headers, body, options);
  });
}

function once(method, address, headers, body, { patience, background = false, signal, named = false }) {
  return new Promise((done, failed) => {
    const url = new URL(address);
    // Both may be listened at, and this one is tried first only where names are looked up so.
    if (url.hostname === "localhost") url.hostname = "127.0.0.1";
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    const agent = agents[url.protocol]?.[background ? 1 : 0];
    const { request: make } = url.protocol === "https:" ? https : http;
    const asked = make(url, { method, headers: { ...shown(address, headers), ...length }, agent, signal, named }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("error", failed);
      answer.on("end", () => done({ status: answer.statusCode, text: Buffer.concat(parts).toString("utf8") }));
    });
    const timer = setTimeout(() => asked.destroy(new Error("no answer in time")), patience);
    if (background) timer.unref();
    asked.on("socket", (socket) => (background ? socket.unref() : socket.ref()));
    asked.on("error", (error) => {
      if (error.code === "ECONNREFUSED" && refused.size < 64) refused.set(Number(url.port), Date.now());
      failed(Object.assign(error, { idle: asked.reusedSocket && error.code === "ECONNRESET" }));
    });
    asked.on("close", () => {
      clearTimeout(timer);
      failed(new Error("the answer was cut off"));
    });
    asked.end(body);
  });
}

// A thread of its own makes the request while this one sleeps on a shared number. Made when first needed: most programs
// never block.
let thread = null;

function requestSync(method, url, headers, body, patience, named = false) {
  proveFirstSync(url, named);
  return askSync(method, url, shown(url, headers), body, patience);
}

function proveFirstSync(url, named) {
  const at = named ? null : place(url);
  if (at === null) return;
  const found = whose(at.host, at.port);
  if (found.ours || (!found.known && proven.has(`${at.host}:${at.port}`))) return;
  const { path, isAnswer } = question(at.host, at.port);
  if (found.known || !isAnswer(askSync("GET", new URL(path, url).href, {}, undefined, PROOF_MS).text)) {
    throw strange(at.host, at.port, found);
  }
  proven.add(`${at.host}:${at.port}`);
}

function askSync(method, url, headers, body, patience) {
  thread ??= blockingThread();
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  thread.postMessage({ port: port2, flag, method, url, headers, body, patience }, [port2]);
  const woken = Atomics.wait(flag, 0, 0, patience + 1_000);
  const answer = woken === "timed-out" ? null : receiveMessageOnPort(port1)?.message;
  port1.close();
  if (!answer || answer.error) throw new Error(answer?.error ?? "no answer in time");
  return answer;
}

function blockingThread() {
  const source = `
    const { parentPort } = require("node:worker_threads");
    parentPort.on("message", async ({ port, flag, method, url, headers, body, patience }) => {
      let answer;
      try {
        const response = await fetch(url, { method, body, headers, signal: AbortSignal.timeout(patience) });
        answer = { status: response.status, text: await response.text() };
      } catch (error) {
        answer = { error: String(error?.cause?.message ?? error?.message ?? error) };
      }
      port.postMessage(answer);
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
    });`;
  const worker = new Worker(source, { eval: true, execArgv: [], env: { ...process.env, NODE_OPTIONS: "" } });
  // It must not keep the program alive, and when it fails the next one is tried.
  worker.unref();
  worker.on("error", () => {
    thread = null;
  });
  return worker;
}

const sleepSync = (milliseconds) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

// At the next turn of the event loop, if there is one.
const later = (work) => void setImmediate(work).unref();

// Before the program ends, as long as something can be awaited, and at its very end.
function atExit(flush, flushSync) {
  process.on("beforeExit", flush);
  process.on("exit", flushSync);
}

const about = () => ({
  argv: process.argv.slice(0, 20).map((word) => String(word).slice(0, 200)),
  executable: process.execPath,
  runtime: `node ${process.versions.node}`,
  cwd: workingFolder(),
  parent_pid: process.ppid,
});

function workingFolder() {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

module.exports = {
  about,
  atExit,
  clearTimeout,
  currentTask,
  isStrange,
  later,
  namedAddress,
  portAddress,
  request,
  requestSync,
  runInTask,
  setTimeout,
  sha512,
  sleepSync,
  token,
};
