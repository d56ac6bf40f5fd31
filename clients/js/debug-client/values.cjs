// Any value as JSON text and its cid: what the server keeps of an argument or a result.
// Nothing of the user's may break a call: a getter or a toJSON that throws becomes a note in its place.
"use strict";

const limits = require("./limits.cjs");
const { node } = require("./runtime.cjs");
const { sha512 } = require("./sha512.cjs");

const encoder = new TextEncoder();
const cids = new Map();
const refs = new WeakMap();
let lastRef = 0;
// Values that may still be looked at for the one that is captured now.
let left = 0;

function item(value) {
  return itemOf(text(value));
}

function itemOf(data) {
  return { cid: cidOf(data), data, serialization_format: "json" };
}

function cidOf(data) {
  const found = cids.get(data);
  if (found) return found;
  const cid = node ? node.sha512(data) : sha512(encoder.encode(data));
  if (data.length <= limits.CACHED_CHARS) {
    if (cids.size >= limits.CID_CACHE) cids.clear();
    cids.set(data, cid);
  }
  return cid;
}

// An object has the same number in every call, so that it can be followed while it changes.
function refOf(value) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  if (!refs.has(value)) refs.set(value, (lastRef += 1));
  return refs.get(value);
}

function text(value) {
  left = limits.NODES;
  const found = JSON.stringify(plain(value, [])) ?? "null";
  return found.length <= limits.VALUE_CHARS ? found : JSON.stringify(truncated(value, `${found.length} characters`));
}

// Of a value that takes too long, only what it is.
function nameText(value) {
  const isSmall = (typeof value !== "object" && typeof value !== "function") || value === null;
  return isSmall ? text(value) : JSON.stringify(truncated(value, "not captured: it takes too long at every call"));
}

function truncated(value, why) {
  return { __holdpoint_truncated__: true, summary: `${nameOf(value?.constructor)}: ${why}` };
}

// Without what JSON does not know. `above` are the objects this one is in.
function plain(value, above) {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
    case "symbol":
      return String(value);
    case "undefined":
      return null;
    case "function":
      return `[Function ${nameOf(value)}]`;
    default:
      return value === null ? null : compound(value, above);
  }
}

function compound(value, above) {
  if (above.includes(value)) return "[Circular]";
  try {
    left -= 1;
    if (above.length >= limits.DEPTH || left < 0) return { __holdpoint_truncated__: true, summary: nameOf(value.constructor) };
    return fields(value, [...above, value]);
  } catch (error) {
    return `[unreadable: ${describe(error).message}]`;
  }
}

function fields(value, above) {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) {
    return Object.fromEntries(["name", "message", "stack"].map((key) => [key, read(value, key, above)]));
  }
  if (value instanceof Map || value instanceof Set) return list(first(value), above, value.size);
  if (value instanceof ArrayBuffer) return fields(new Uint8Array(value), above);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return list(Array.from(value.subarray(0, limits.ITEMS)), above, value.length);
  }
  if (Array.isArray(value)) return list(value, above);
  if (value instanceof Promise) return "[Promise]";
  if (typeof value.toJSON === "function") return plain(value.toJSON(), above);
  // Without a prototype, so that `__proto__` is a key like any other.
  const found = Object.create(null);
  let count = 0;
  for (const key of Object.keys(value)) {
    if (count++ >= limits.ITEMS) {
      found.__skipped__ = Object.keys(value).length - limits.ITEMS;
      break;
    }
    found[key] = read(value, key, above);
  }
  return found;
}

// The entries of a list that are looked at; a giant one is not copied for it.
function list(values, above, length = values.length) {
  const kept = values.slice(0, limits.ITEMS).map((value) => plain(value, above));
  if (length > limits.ITEMS) kept.push(`<${length - limits.ITEMS} more items skipped>`);
  return kept;
}

function first(values) {
  const found = [];
  for (const value of values) {
    if (found.length >= limits.ITEMS) break;
    found.push(value);
  }
  return found;
}

function read(value, key, above) {
  try {
    return plain(value[key], above);
  } catch (error) {
    return `[unreadable: ${describe(error).message}]`;
  }
}

function nameOf(fn) {
  return (fn && typeof fn.name === "string" && fn.name) || "anonymous";
}

// What was thrown, whatever it is: anything can be.
function describe(thrown) {
  try {
    if (thrown instanceof Error) {
      return { name: String(thrown.name), message: String(thrown.message), stack: String(thrown.stack ?? "") };
    }
    return { name: typeof thrown, message: String(thrown), stack: "" };
  } catch {
    return { name: "Error", message: "<unprintable>", stack: "" };
  }
}

module.exports = { cidOf, describe, item, itemOf, nameOf, nameText, refOf, text };
