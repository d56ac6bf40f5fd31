// Expressions evaluated in a paused call. They see `$args`, `$this` and the parameters by name.
"use strict";

const { describe, item, text } = require("./values.cjs");

// The names of a function's parameters, as far as its source tells them.
function parameters(fn) {
  const source = Function.prototype.toString.call(fn);
  const head = source.match(/^(?:async\s+)?(?:function\b[^(]*|[\w$#*\s[\]'"]*?)\(([^)]*)\)|^(?:async\s+)?([\w$]+)\s*=>/);
  const inside = head?.[1] ?? head?.[2] ?? "";
  return inside.split(",").map((part) => part.trim().replace(/=.*$/s, "").trim()).filter((part) => /^[A-Za-z_$][\w$]*$/.test(part));
}

// The result's report, and when it is a promise, the report it becomes.
function evaluate(request, call) {
  const scope = { $args: call.args, $this: call.self };
  for (const [index, name] of parameters(call.fn).entries()) scope[name] = call.args[index];
  const printed = [];
  try {
    const value = captured(printed, () => run(request.expr, scope));
    if (value instanceof Promise) {
      return value.then((done) => success(request, done, printed), (thrown) => failure(request, thrown, printed));
    }
    return success(request, value, printed);
  } catch (thrown) {
    return failure(request, thrown, printed);
  }
}

// Another user's server may be told of calls, when the user named it, and no more.
function refused(request) {
  return report(request, [], { error: "Error: this app evaluates nothing for another user's server" });
}

// A call that blocks cannot wait for what the expression promised.
function unawaited(request) {
  return report(request, [], { result: "[Promise]" });
}

function run(expression, scope) {
  const names = Object.keys(scope);
  const values = Object.values(scope);
  let compiled;
  try {
    compiled = new Function(...names, `return (${expression}\n);`);
  } catch {
    // No expression: statements, whose value is nobody's.
    compiled = new Function(...names, expression);
  }
  return compiled.apply(scope.$this, values);
}

function captured(printed, work) {
  const { log } = console;
  console.log = (...values) => printed.push(values.map((value) => (typeof value === "string" ? value : text(value))).join(" "));
  try {
    return work();
  } finally {
    console.log = log;
  }
}

function success(request, value, printed) {
  const { cid, data, serialization_format } = item(value);
  const result = typeof value === "string" ? value : text(value);
  return report(request, printed, { result, result_cid: cid, result_data: data, result_serialization_format: serialization_format });
}

function failure(request, thrown, printed) {
  const { name, message } = describe(thrown);
  return report(request, printed, { error: `${name}: ${message}` });
}

function report({ eval_id, session_id, pause_id }, printed, outcome) {
  return { eval_id, session_id, pause_id, stdout: printed.map((line) => `${line}\n`).join(""), ...outcome };
}

module.exports = { evaluate, parameters, refused, unawaited };
