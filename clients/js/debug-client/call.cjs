// One intercepted call, from asking the server to telling it the outcome.
//
// The steps are generators: they yield what they need done (a request, a pause, the user's function) and are
// given the outcome. So the asynchronous and the synchronous client run the very same steps.
"use strict";

const { parse } = require("./json.cjs");
const limits = require("./limits.cjs");
const record = require("./record.cjs");
const { evaluate, refused, unawaited } = require("./repl.cjs");
const { clock, identity, node, now, say } = require("./runtime.cjs");
const server = require("./server.cjs");
const ship = require("./ship.cjs");
const { framesOf } = require("./stack.cjs");
const { describe, item, itemOf, nameOf, refOf } = require("./values.cjs");
const watch = require("./watch.cjs");

const replacements = new Map();
const known = new WeakMap();
// What the server was told of functions, so that each is told once; all of it, for another server.
const told = new Map();
let lastCall = 0;

const registerReplacement = (name, fn) => void replacements.set(name, fn);

// Which calls are inside which. A page, which has one thread, cannot know more than their times.
const task = () => node?.currentTask() ?? { thread_id: 0 };
const runInside = (current, work) => (node ? node.runInTask(current, work) : work());
const run = (call) => runInside(call.task, () => Reflect.apply(call.fn, call.self, call.args));

// A call that a callpoint is set for. What cannot be asked is recorded like any other.
function* asked(call) {
  const started = yield* safely(start(call));
  if (!started) return yield* unasked(call);
  const action = yield* safely(decided(call, started));
  const work = act(action ?? { action: "continue" }, call);
  const outcome = yield { kind: "attempt", work: () => runInside(call.task, work) };
  yield* safely(complete(call, started.call_id, outcome));
  return result(outcome);
}

function* unasked(call) {
  const outcome = yield { kind: "attempt", work: () => run(call) };
  yield* safely(recorded(call, outcome));
  return result(outcome);
}

function* recorded(call, outcome) {
  if (ship.hasRoom()) ship.put(record.finish(call, outcome));
}

// A call that was not announced and is to pause at its end.
function* late(call, outcome) {
  const started = yield* safely(start(call));
  if (started) yield* safely(complete(call, started.call_id, outcome));
  else yield* safely(recorded(call, outcome));
}

// Steps of our own, whose errors are not the app's.
function* safely(steps) {
  try {
    return yield* steps;
  } catch (error) {
    say("own", `an error of the client itself: ${error?.message ?? error}; the call runs on`);
    return null;
  }
}

function result({ failed, value }) {
  if (failed) throw value;
  return value;
}

// The server hears of a function before its first call. Closures made at each call are the same function to it.
function introduce(name, fn) {
  const names = known.get(fn) ?? new Set();
  if (names.has(name)) return;
  known.set(fn, names.add(name));
  if (!replacements.has(name)) replacements.set(name, fn);
  const source = Function.prototype.toString.call(fn).slice(0, limits.SOURCE_CHARS);
  const described = item({ name: nameOf(fn), signature: fn.length, source });
  if (told.get(name)?.function_cid === described.cid) return;
  const body = {
    function_name: name,
    signature: fn.length,
    function_cid: described.cid,
    function_data: described.data,
    function_serialization_format: "json",
  };
  if (told.size < limits.QUEUE_POSTS) told.set(name, body);
  // A server that is found later is told of everything then.
  if (watch.isReachable()) ship.post("/api/functions", body);
}

function introduceAll() {
  for (const body of told.values()) ship.post("/api/functions", body);
}

function* start(call) {
  const target = item({ name: nameOf(call.fn), length: call.fn.length });
  const args = call.texts.map((text, at) => ({ ...itemOf(text), client_ref: call.refs[at] }));
  // For an answer that names an argument by its cid. Gone with the call.
  call.live = new Map(args.map(({ cid }, index) => [cid, call.args[index]]));
  call.key = `${identity.process_pid}-${identity.process_start_time}-${(lastCall += 1)}`;
  const body = {
    method_name: call.name,
    signature: call.fn.length,
    target,
    args: args.map(brief),
    kwargs: {},
    call_site: { timestamp: call.started, page_url: identity.page_url, stack_trace: framesOf(call.trace) },
    ...identity,
    ...call.task,
    preferred_format: "json",
    client: record.CLIENT,
    idempotency_key: call.key,
  };
  let answer = yield { kind: "post", path: "/api/call/start", body };
  if (answer?.data.error === "cid_not_found") {
    // The server was started anew, or has let go of them.
    for (const cid of answer.data.missing_cids ?? []) record.known.delete(cid);
    answer = yield { kind: "post", path: "/api/call/start", body: { ...body, args } };
  }
  if (answer?.status !== 200 || !answer.data.call_id) return null;
  for (const { cid } of args) record.known.add(cid);
  return answer.data;
}

function brief({ data, ...value }) {
  return record.known.has(value.cid) ? value : { data, ...value };
}

// Waits as long as the server says to; a server that is gone does not hold the call.
function* decided(call, action) {
  let lostSince = null;
  while (action?.action === "poll") {
    const url = String(action.poll_url);
    const patience = 1_000 * limits.POLL_HOLD_S + limits.GRACE_MS;
    const answer = yield { kind: "get", path: `${url}?hold_s=${limits.POLL_HOLD_S}`, patience };
    if (answer?.data.status === "ready") {
      action = answer.data.action;
    } else if (answer?.data.status === "waiting") {
      lostSince = null;
      const began = yield* questions(call, url.split("/").pop());
      if (!began) yield { kind: "sleep", milliseconds: Math.min(action.poll_interval_ms ?? 100, 100) };
    } else {
      lostSince ??= clock();
      if (answer !== null || clock() - lostSince >= limits.PAUSE_PATIENCE_MS) return { action: "continue" };
      yield { kind: "sleep", milliseconds: 100 };
    }
  }
  return action;
}

// Evaluates what somebody asked meanwhile. Returns whether there was anything.
function* questions(call, pause) {
  let any = false;
  for (;;) {
    const answer = yield { kind: "get", path: `/api/poll-repl/${pause}`, patience: limits.ASK_MS };
    if (!answer?.data.eval_id) return any;
    any = true;
    const work = () => (server.isStrange() ? refused(answer.data) : evaluate(answer.data, call));
    const report = yield { kind: "run", work };
    yield { kind: "post", path: "/api/call/repl-result", body: report instanceof Promise ? unawaited(answer.data) : report };
  }
}

// What to run for an action. One that cannot be carried out changes nothing, and the record says why.
function act(action, call) {
  const asWritten = () => Reflect.apply(call.fn, call.self, call.args);
  try {
    return workOf(action, call) ?? asWritten;
  } catch (error) {
    call.undone = error?.message ?? String(error);
    say(call.undone, `${call.undone}; \`${call.name}\` runs as written`);
    return asWritten;
  }
}

function workOf(action, call) {
  switch (action?.action) {
    case "modify": {
      const args = modified(action.modified_args, call);
      return () => Reflect.apply(call.fn, call.self, args);
    }
    case "skip": {
      const { fake_result_data: data, fake_result: value = null } = action;
      const fake = data === undefined || data === null ? value : parse(data);
      return () => fake;
    }
    case "raise": {
      const error = exception(action);
      return () => {
        throw error;
      };
    }
    case "replace": {
      const other = replacement(action.function_name, call);
      return () => Reflect.apply(other, call.self, call.args);
    }
    case "continue":
      return null;
    default:
      throw new Error(`the action \`${action?.action}\` is unknown`);
  }
}

// New arguments: a value's data, or the cid of an argument that this call has, which is then the object itself.
function modified(items, call) {
  if (items === undefined || items === null) return call.args;
  return items.map(({ cid, data }) => {
    if (data !== undefined && data !== null) return parse(data);
    if (!call.live.has(cid)) throw new Error(`no argument of this call has the cid ${cid}`);
    return call.live.get(cid);
  });
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
  throw new Error(`no function \`${name}\` with ${call.fn.length} parameters is registered`);
}

// Tells the server how the call ended, and waits if it is to pause there.
function* complete(call, callId, outcome) {
  const body = { call_id: callId, idempotency_key: call.key, action_error: call.undone, timestamp: now(), ...identity };
  const { failed } = outcome;
  const { name, message, stack } = failed ? describe(outcome.value) : {};
  const { cid, data } = item(failed ? { name, message } : outcome.value);
  if (failed) {
    Object.assign(body, { status: "exception", exception_cid: cid, exception_data: data, exception_serialization_format: "json" });
    Object.assign(body, { exception_type: name, exception_message: message, exception_traceback: stack });
  } else {
    Object.assign(body, { status: "success", result_cid: cid, result_data: data, result_serialization_format: "json" });
    body.result_client_ref = refOf(outcome.value);
  }
  const answer = yield { kind: "post", path: "/api/call/complete", body };
  // The server may live and only have been slow: then it still learns that the call is over.
  if (answer === null) ship.post("/api/call/complete", body);
  if (answer?.status === 200 && answer.data.action === "poll") yield* decided(call, answer.data);
}

module.exports = { asked, introduce, introduceAll, late, registerReplacement, run, task };
