// One intercepted call, from asking the server to telling it the outcome.
//
// `flow` is a generator: it yields what it needs done (a request, a pause, the user's function) and is
// given the outcome. So the asynchronous and the synchronous client run the very same steps.

import { evaluate, unawaited } from "./repl.js";
import { runInside } from "./server.js";
import { describe, item, nameOf } from "./values.js";

const HOLD_S = 10;
const SENT = 10_000;
const CLIENT = "holdpoint-js/0.1.0";
const isNode = typeof process !== "undefined" && Boolean(process.versions?.node);
const identity = {
  process_pid: isNode ? process.pid : 0,
  process_start_time: performance.timeOrigin / 1000,
  page_url: isNode ? undefined : globalThis.location?.href,
};

// Values the server has said it took. The oldest go first.
const sent = new Set();
const replacements = new Map();
const known = new WeakMap();
const refs = new WeakMap();
let lastRef = 0;

export const registerReplacement = (name, fn) => void replacements.set(name, fn);

export function forget() {
  sent.clear();
}

export function* flow(call) {
  yield* introduce(call);
  const started = yield* start(call);
  if (!started) return yield { run: () => Reflect.apply(call.fn, call.self, call.args) };
  const action = yield* decided(call, started);
  const work = act(action, call);
  const outcome = yield { attempt: () => runInside(call.task, work) };
  const answer = yield* complete(started.call_id, outcome, call.undone);
  if (answer?.action === "poll") yield* decided(call, answer);
  if ("thrown" in outcome) throw outcome.thrown;
  return outcome.value;
}

// The server hears of a function before its first call.
function* introduce(call) {
  const names = known.get(call.fn) ?? new Set();
  if (names.has(call.name)) return;
  if (!replacements.has(call.name)) replacements.set(call.name, call.fn);
  const described = item({ name: nameOf(call.fn), signature: call.fn.length, source: Function.prototype.toString.call(call.fn).slice(0, 20_000) });
  const answer = yield {
    post: "/api/functions",
    body: {
      function_name: call.name,
      signature: call.fn.length,
      function_cid: described.cid,
      function_data: described.data,
      function_serialization_format: "json",
    },
  };
  if (answer?.status === 200) known.set(call.fn, names.add(call.name));
}

function* start(call) {
  const target = item({ name: nameOf(call.fn), length: call.fn.length });
  const args = call.args.map(withRef);
  // For an answer that names an argument by its cid. Gone with the call.
  call.live = new Map(args.map(({ cid }, index) => [cid, call.args[index]]));
  const body = {
    method_name: call.name,
    target,
    args: args.map(brief),
    kwargs: {},
    call_site: { timestamp: Date.now() / 1000, page_url: identity.page_url, stack_trace: call.stack },
    ...identity,
    ...call.task,
    preferred_format: "json",
    client: CLIENT,
  };
  let answer = yield { post: "/api/call/start", body };
  if (answer?.data.error === "cid_not_found") {
    // The server was started anew, or has let go of them.
    for (const cid of answer.data.missing_cids ?? []) sent.delete(cid);
    answer = yield { post: "/api/call/start", body: { ...body, args } };
  }
  if (answer?.status !== 200) return null;
  for (const { cid } of args) remember(cid);
  return answer.data;
}

function brief({ data, ...value }) {
  return sent.has(value.cid) ? value : { data, ...value };
}

// An object has the same number in every call, so that it can be followed while it changes.
function withRef(value) {
  return { ...item(value), client_ref: refOf(value) };
}

function refOf(value) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  if (!refs.has(value)) refs.set(value, (lastRef += 1));
  return refs.get(value);
}

function remember(cid) {
  sent.delete(cid);
  sent.add(cid);
  if (sent.size > SENT) sent.delete(sent.values().next().value);
}

// Waits as long as the server says to; a server that is gone does not hold the call.
function* decided(call, action) {
  while (action?.action === "poll") {
    const pause = action.poll_url.split("/").pop();
    const answer = yield { get: `${action.poll_url}?hold_s=${HOLD_S}` };
    if (answer?.data.status === "ready") {
      action = answer.data.action;
    } else if (answer?.data.status === "waiting") {
      const began = yield* questions(call, pause);
      if (!began) yield { sleep: Math.min(action.poll_interval_ms ?? 100, 100) };
    } else {
      return { action: "continue" };
    }
  }
  return action;
}

// Evaluates what somebody asked meanwhile. Returns whether there was anything.
function* questions(call, pause) {
  let any = false;
  for (;;) {
    const answer = yield { get: `/api/poll-repl/${pause}` };
    if (!answer?.data.eval_id) return any;
    any = true;
    const report = yield { run: () => evaluate(answer.data, call) };
    yield { post: "/api/call/repl-result", body: report instanceof Promise ? unawaited(answer.data) : report };
  }
}

// What to run for an action. One that nobody knows changes nothing.
function act(action, call) {
  switch (action?.action) {
    case "modify":
      return () => Reflect.apply(call.fn, call.self, modified(action.modified_args, call));
    case "skip":
      return () => JSON.parse(action.fake_result_data ?? JSON.stringify(action.fake_result ?? null));
    case "raise":
      return () => {
        throw exception(action);
      };
    case "replace":
      return () => Reflect.apply(replacement(action.function_name, call), call.self, call.args);
    case "continue":
      return () => Reflect.apply(call.fn, call.self, call.args);
    default:
      call.undone = `the action \`${action?.action}\` is unknown`;
      return () => Reflect.apply(call.fn, call.self, call.args);
  }
}

// New arguments: a value's data, or the cid of an argument that this call has, which is then the object itself.
function modified(items, call) {
  if (!items) return call.args;
  const strange = items.find(({ cid, data }) => data === undefined && !call.live.has(cid));
  if (strange) {
    call.undone = `no argument of this call has the cid ${strange.cid}`;
    console.warn(`holdpoint: ${call.undone}; \`${call.name}\` keeps its arguments`);
    return call.args;
  }
  return items.map(({ cid, data }) => (data === undefined ? call.live.get(cid) : JSON.parse(data)));
}

function exception({ exception_type: type, exception_message: message }) {
  const Kind = typeof globalThis[type] === "function" && globalThis[type].prototype instanceof Error ? globalThis[type] : Error;
  const error = new Kind(message ?? "Exception");
  if (type && Kind === Error) error.name = type;
  return error;
}

function replacement(name, call) {
  const fn = replacements.get(name);
  if (fn && fn.length === call.fn.length) return fn;
  call.undone = `no function \`${name}\` with ${call.fn.length} parameters is registered`;
  console.warn(`holdpoint: ${call.undone}; \`${call.name}\` runs itself`);
  return call.fn;
}

function* complete(callId, outcome, undone) {
  const body = { call_id: callId, action_error: undone, timestamp: Date.now() / 1000, ...identity };
  if ("thrown" in outcome) {
    const { name, message, stack } = describe(outcome.thrown);
    const { cid, data } = item({ name, message });
    Object.assign(body, {
      status: "exception",
      exception_cid: cid,
      exception_data: data,
      exception_serialization_format: "json",
      exception_type: name,
      exception_message: message,
      exception_traceback: stack,
    });
  } else {
    const { cid, data } = item(outcome.value);
    const result_client_ref = refOf(outcome.value);
    Object.assign(body, { status: "success", result_cid: cid, result_data: data, result_serialization_format: "json", result_client_ref });
  }
  const answer = yield { post: "/api/call/complete", body };
  return answer?.status === 200 ? answer.data : null;
}
