// The way to the server. Whatever happens to it, the app goes on: a request that fails gives `null`,
// is said once, and the server is left alone for a moment before it is asked again.

const PATIENCE_MS = 30_000;
const LEFT_ALONE_MS = 1_000;
const isNode = typeof process !== "undefined" && Boolean(process.versions?.node);

let url = null;
let token = null;
let silentUntil = 0;
let said = false;
let node = null;
let sync = null;

// Which calls are inside which. A page, which has one thread, cannot know more than their times.
export const task = () => node?.currentTask() ?? { thread_id: 0 };
export const runInside = (current, work) => (node ? node.runInTask(current, work) : work());

export function useServer(address, secret = token) {
  url = String(address).replace(/\/+$/, "");
  token = secret;
  silentUntil = 0;
  said = false;
}

// Where the server is: who served us, else (in Node) where every client looks, else where it usually is.
export async function prepare(served) {
  if (isNode) node = await import("./node.js");
  useServer(served ?? node?.address() ?? "http://localhost:5174", node?.token());
}

function headersFor(body) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  return token ? { ...headers, Authorization: `Bearer ${token}` } : headers;
}

// `{status, data}`, or null when there was no answer that could be understood.
export async function ask(method, path, body) {
  if (Date.now() < silentUntil) return null;
  try {
    const response = await fetch(url + path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: headersFor(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return understood(response.status, await response.json());
  } catch (error) {
    return lost(error);
  }
}

export function askSync(method, path, body) {
  if (Date.now() < silentUntil) return null;
  try {
    const text = body === undefined ? undefined : JSON.stringify(body);
    // Made when first needed: most programs never block.
    if (node) sync ??= node.syncRequests();
    const answer = sync ? sync(method, url + path, headersFor(body), text, PATIENCE_MS) : xhr(method, url + path, text);
    return understood(answer.status, JSON.parse(answer.text));
  } catch (error) {
    return lost(error);
  }
}

function xhr(method, address, body) {
  const request = new XMLHttpRequest();
  request.open(method, address, false);
  for (const [name, value] of Object.entries(headersFor(body))) request.setRequestHeader(name, value);
  request.send(body);
  return { status: request.status, text: request.responseText };
}

function understood(status, data) {
  if (data === null || typeof data !== "object") return lost(new Error("the answer is no object"));
  if (status < 400) said = false;
  // Asking for a value again is how the protocol works; every other refusal leaves a call unseen.
  else if (data.error !== "cid_not_found") say(`refuses (${status} ${data.error ?? "without a reason"})`);
  return { status, data };
}

function lost(error) {
  silentUntil = Date.now() + LEFT_ALONE_MS;
  say(`does not answer (${error?.message ?? error})`);
  return null;
}

function say(what) {
  if (!said) console.warn(`holdpoint: ${url} ${what}; calls run on without it`);
  said = true;
}
