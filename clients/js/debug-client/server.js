// The way to the server. Whatever happens to it, the app goes on: a request that fails gives `null`,
// is said once, and the server is left alone for a moment before it is asked again.

const PATIENCE_MS = 30_000;
const LEFT_ALONE_MS = 1_000;
const isNode = typeof process !== "undefined" && Boolean(process.versions?.node);

let url = null;
let silentUntil = 0;
let said = false;
let node = null;
let sync = null;

export function useServer(address) {
  url = String(address).replace(/\/+$/, "");
  silentUntil = 0;
  said = false;
}

// Where the server is: who served us, else (in Node) where every client looks, else where it usually is.
export async function prepare(served) {
  if (isNode) node = await import("./node.js");
  useServer(served ?? node?.address() ?? "http://localhost:5174");
}

// `{status, data}`, or null when there was no answer that could be understood.
export async function ask(method, path, body) {
  if (Date.now() < silentUntil) return null;
  try {
    const response = await fetch(url + path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: body === undefined ? undefined : { "Content-Type": "application/json" },
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
    const answer = sync ? sync(method, url + path, text, PATIENCE_MS) : xhr(method, url + path, text);
    return understood(answer.status, JSON.parse(answer.text));
  } catch (error) {
    return lost(error);
  }
}

function xhr(method, address, body) {
  const request = new XMLHttpRequest();
  request.open(method, address, false);
  if (body !== undefined) request.setRequestHeader("Content-Type", "application/json");
  request.send(body);
  return { status: request.status, text: request.responseText };
}

function understood(status, data) {
  if (data === null || typeof data !== "object") return lost(new Error("the answer is no object"));
  said = false;
  return { status, data };
}

function lost(error) {
  silentUntil = Date.now() + LEFT_ALONE_MS;
  if (!said) {
    said = true;
    console.warn(`holdpoint: ${url} does not answer (${error?.message ?? error}); calls run on without it`);
  }
  return null;
}
