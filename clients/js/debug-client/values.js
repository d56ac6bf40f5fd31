// Any value as JSON text and its cid: what the server keeps of an argument or a result.
// Nothing of the user's may break a call: a getter or a toJSON that throws becomes a note in its place.

import { sha512 } from "./sha512.js";

const DEPTH = 50;
const ITEMS = 10_000;
const encoder = new TextEncoder();

export function item(value) {
  const data = text(value);
  return { cid: sha512(encoder.encode(data)), data, serialization_format: "json" };
}

export function text(value) {
  return JSON.stringify(plain(value, [])) ?? "null";
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
  if (above.length >= DEPTH) return { __holdpoint_truncated__: true, summary: nameOf(value.constructor) };
  try {
    return fields(value, [...above, value]);
  } catch (error) {
    return `[unreadable: ${describe(error).message}]`;
  }
}

function fields(value, above) {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return { name: value.name, message: value.message, stack: value.stack };
  if (value instanceof Map) return list([...value], above);
  if (value instanceof Set) return list([...value], above);
  if (value instanceof ArrayBuffer) return list([...new Uint8Array(value)], above);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return list(Array.from(value), above);
  if (Array.isArray(value)) return list(value, above);
  if (value instanceof Promise) return "[Promise]";
  if (typeof value.toJSON === "function") return plain(value.toJSON(), above);
  const found = {};
  let count = 0;
  for (const key of Object.keys(value)) {
    if (count++ >= ITEMS) {
      found.__skipped__ = Object.keys(value).length - ITEMS;
      break;
    }
    found[key] = read(value, key, above);
  }
  return found;
}

function list(values, above) {
  const kept = values.slice(0, ITEMS).map((value) => plain(value, above));
  if (values.length > ITEMS) kept.push(`<${values.length - ITEMS} more items skipped>`);
  return kept;
}

function read(value, key, above) {
  try {
    return plain(value[key], above);
  } catch (error) {
    return `[unreadable: ${describe(error).message}]`;
  }
}

export function nameOf(fn) {
  return (fn && typeof fn.name === "string" && fn.name) || "anonymous";
}

// What was thrown, whatever it is: anything can be.
export function describe(thrown) {
  try {
    if (thrown instanceof Error) {
      return { name: String(thrown.name), message: String(thrown.message), stack: String(thrown.stack ?? "") };
    }
    return { name: typeof thrown, message: String(thrown), stack: "" };
  } catch {
    return { name: "Error", message: "<unprintable>", stack: "" };
  }
}
