// A call as a record: its values as text while it runs, the JSON of many of them when they are shipped.
"use strict";

const limits = require("./limits.cjs");
const { clock, identity, node, now } = require("./runtime.cjs");
const { framesOf } = require("./stack.cjs");
const { cidOf, describe, nameText, refOf, text } = require("./values.cjs");

const CLIENT = "holdpoint-js/0.1.0";
// What values that take long have cost the app so far, and the functions that have such.
let spent = 0;
const heavy = new Set();
// Cids that the server has said it took, and the values sent lately, in case it lost them.
const known = new Set();
const recent = new Map();
let recentChars = 0;
let missing = [];
let lastBatch = 0;

// The arguments as they are now: the function may change them.
function begin(call) {
  const began = clock();
  const isOverspent = spent > limits.HEAVY_FREE_MS + limits.HEAVY_SHARE * began;
  const capture = isOverspent && heavy.has(call.name) ? nameText : text;
  call.started = now();
  call.texts = Array.from(call.args, (value) => capture(value));
  call.refs = Array.from(call.args, (value) => refOf(value));
  const cost = clock() - began;
  if (cost > limits.HEAVY_MS) {
    spent += cost;
    if (heavy.size < limits.CID_CACHE) heavy.add(call.name);
  }
  return capture;
}

// `call` with its outcome, made so that nothing of the app is held any longer.
function finish(call, outcome, capture = text) {
  const began = clock();
  const record = { name: call.name, length: call.fn.length, texts: call.texts, refs: call.refs, started: call.started };
  Object.assign(record, { completed: now(), task: call.task, trace: call.trace });
  if (outcome.failed) {
    const { name, message, stack } = describe(outcome.value);
    Object.assign(record, { error: [name, message, stack], text: text({ name, message }) });
  } else {
    Object.assign(record, { text: capture(outcome.value), ref: refOf(outcome.value) });
  }
  record.chars = record.texts.reduce((sum, { length }) => sum + length, record.text.length);
  const cost = clock() - began;
  if (cost > limits.HEAVY_MS) spent += cost;
  return record;
}

// --- Many of them as one request.

// Takes records off the queue until the batch is full.
function batchOf(queue, dropped, charsMax = limits.BATCH_CHARS) {
  const values = new Map(missing.filter((cid) => recent.has(cid)).map((cid) => [cid, recent.get(cid)]));
  missing = [];
  const calls = [];
  let taken = 0;
  let chars = 0;
  while (taken < queue.length && taken < limits.BATCH_RECORDS && (taken === 0 || chars + queue[taken].chars < charsMax)) {
    const record = queue[taken++];
    calls.push(callOf(record, values));
    // The rest of a record is names, numbers and its stack.
    chars += record.chars + 1_000;
  }
  queue.splice(0, taken);
  const items = Array.from(values, ([cid, data]) => ({ cid, data, serialization_format: "json" }));
  const body = JSON.stringify({
    ...identity,
    process: { ...node?.about(), client: CLIENT },
    batch_id: `${identity.process_pid}-${identity.process_start_time}-${(lastBatch += 1)}`,
    preferred_format: "json",
    dropped,
    values: items,
    calls,
  });
  return { body, values, count: taken, dropped, tries: 0, done: false };
}

function callOf(record, values) {
  const { name, length, texts, refs, started, completed, task, trace, error, ref } = record;
  const cid = (data) => {
    const found = cidOf(data);
    if (!known.has(found)) values.set(found, data);
    return found;
  };
  const args = Object.fromEntries(refs.map((it, at) => [at, it]).filter(([, it]) => it !== undefined));
  const call = {
    method_name: name,
    signature: length,
    target_cid: cid(text({ name, length })),
    args: texts.map(cid),
    kwargs: {},
    started_at: started,
    completed_at: completed,
    call_site: { timestamp: started, page_url: identity.page_url, stack_trace: framesOf(trace) },
    client_refs: { args, ...(error ? {} : { result: ref }) },
    client: CLIENT,
    ...task,
  };
  if (!error) return Object.assign(call, { status: "success", result_cid: cid(record.text) });
  const [exception_type, exception_message, exception_traceback] = error;
  const said = { exception_type, exception_message, exception_traceback };
  return Object.assign(call, { status: "exception", exception_cid: cid(record.text), ...said });
}

// The server has these values now, except those that it says it lacks.
function taken({ values }, missingCids) {
  if (known.size > limits.KNOWN_CIDS) known.clear();
  for (const [cid, data] of values) {
    known.add(cid);
    if (data.length <= limits.CACHED_CHARS && !recent.has(cid)) {
      recent.set(cid, data);
      recentChars += data.length;
    }
  }
  if (recentChars > limits.RECENT_CHARS) {
    recent.clear();
    recentChars = 0;
  }
  missing = Array.isArray(missingCids) ? missingCids : [];
  for (const cid of missing) known.delete(cid);
}

// Another server has none of them.
function forget() {
  known.clear();
}

module.exports = { CLIENT, batchOf, begin, finish, forget, known, taken };
