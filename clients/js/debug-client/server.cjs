// The way to the server: where it is, and one request to it. Whatever goes wrong is an error with a plain reason; who
// asked decides what that means. The app always goes on.
"use strict";

const { parse } = require("./json.cjs");
const limits = require("./limits.cjs");
const { clearTimeout, clock, node, say, setTimeout } = require("./runtime.cjs");

const { fetch } = globalThis;
// Who served us put its address into the first line.
const served = typeof SERVER_URL === "string" ? SERVER_URL : undefined;
const USUAL = "http://localhost:5174";

let configured = null;
let token = node?.token() ?? null;
let url = null;
// Whether the user named the server, rather than that it was found: one that was found has to be this user's own.
let named = false;
let quietUntil = -Infinity;

function configure(address, secret) {
  if (address !== undefined && address !== null) configured = String(address);
  if (secret !== undefined) token = secret === null ? null : String(secret);
  url = null;
  quietUntil = -Infinity;
}

// Asked at each connect: a server that was started anew may have another port.
function locate() {
  const given = configured ?? node?.namedAddress();
  const found = given ?? served ?? node?.portAddress() ?? USUAL;
  named = given !== undefined;
  url = found.replace(/\/+$/, "");
}

function address() {
  if (url === null) locate();
  return url;
}

function headersFor(body) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  // A line end in it would be the end of the header.
  return token ? { ...headers, Authorization: `Bearer ${token.trim().replace(/\s+/g, " ")}` } : headers;
}

// `{status, data}`; rejects when there was no answer that could be understood.
async function send(method, path, body, { patience = limits.ASK_MS, ...options } = {}) {
  const ask = node?.request ?? fetched;
  const at = address() + path;
  return understood(await ask(method, at, headersFor(body), asText(body), { patience, named, ...options }));
}

function sendSync(method, path, body, patience = limits.ASK_MS) {
  const text = asText(body);
  const ask = node?.requestSync ?? xhr;
  const at = address() + path;
  return understood(ask(method, at, headersFor(body), text, patience, named));
}

function asText(body) {
  return body === undefined || typeof body === "string" ? body : JSON.stringify(body);
}

async function fetched(method, at, headers, body, { patience, signal, keepalive }) {
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(new Error("no answer in time")), patience);
  signal?.addEventListener("abort", () => ended.abort(signal.reason), { once: true });
  try {
    const response = await fetch(at, { method, body, headers, keepalive, signal: ended.signal });
    return { status: response.status, text: await response.text() };
  } finally {
    clearTimeout(timer);
  }
}

function xhr(method, at, headers, body) {
  const request = new XMLHttpRequest();
  request.open(method, at, false);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.send(body);
  return { status: request.status, text: request.responseText };
}

function understood({ status, text }) {
  let data;
  try {
    data = parse(text);
  } catch {
    throw new Error(status < 400 ? "the answer is no JSON" : `status ${status}`);
  }
  if (data === null || typeof data !== "object") throw new Error("the answer is no object");
  return { status, data };
}

// For a call that asks: an answer, or null. A server that fails one call is not asked by the next ones for a while.
async function ask(method, path, body, patience) {
  try {
    return heard(await send(method, path, body, { patience }));
  } catch (error) {
    return inVain(error);
  }
}

function askSync(method, path, body, patience) {
  try {
    return heard(sendSync(method, path, body, patience));
  } catch (error) {
    return inVain(error);
  }
}

function heard(answer) {
  // Asking for a value again is how the protocol works; every other refusal leaves a call unseen.
  if (answer.status >= 400 && answer.data.error !== "cid_not_found") say("refuses", `${address()} ${refusal(answer)}; calls run on without it`);
  return answer;
}

function refusal({ status, data }) {
  return `refuses (${status} ${data.error ?? "without a reason"})`;
}

function inVain(error) {
  quietUntil = clock() + limits.QUIET_MS;
  say("gone", `${address()} does not answer (${reason(error)}); calls run on without it`);
  return null;
}

// In the words of whoever failed first: what Node and browsers say of a fetch tells nothing.
function reason(error) {
  return String(error?.cause?.message || error?.message || error?.code || error);
}

// Whether it is another user's, who may not evaluate anything here.
const isStrange = () => node?.isStrange(address()) ?? false;

const mayAsk = () => clock() >= quietUntil;

module.exports = { address, ask, askSync, configure, isStrange, locate, mayAsk, reason, refusal, send, sendSync };
