// What the server keeps of a value, and its cid.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";

import { sha512 } from "../debug-client/sha512.cjs";
import { describe, item, text } from "../debug-client/values.cjs";

test("the digest is SHA-512 for every length around a block", () => {
  for (let length = 0; length < 300; length++) {
    const bytes = randomBytes(length);
    assert.equal(sha512(bytes), createHash("sha512").update(bytes).digest("hex"));
  }
});

test("a cid is the digest of the text", () => {
  const { cid, data } = item({ price: 1.5, name: "pén" });
  assert.equal(data, '{"price":1.5,"name":"pén"}');
  assert.equal(cid, createHash("sha512").update(data).digest("hex"));
});

const cases = [
  ["undefined", undefined, "null"],
  ["bigint", 12n, '"12"'],
  ["not a number", NaN, '"NaN"'],
  ["infinity", -Infinity, '"-Infinity"'],
  ["function", function add() {}, '"[Function add]"'],
  ["date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ["no date", new Date(NaN), '"Invalid Date"'],
  ["pattern", /a+/g, '"/a+/g"'],
  ["map", new Map([["a", 1]]), '[["a",1]]'],
  ["set", new Set([1, 2]), "[1,2]"],
  ["bytes", new Uint8Array([1, 255]), "[1,255]"],
  ["nested undefined", { a: undefined, b: [undefined] }, '{"a":null,"b":[null]}'],
  ["own spelling", { toJSON: () => ({ x: 1 }) }, '{"x":1}'],
];
for (const [what, value, expected] of cases) {
  test(`a value as JSON: ${what}`, () => assert.equal(text(value), expected));
}

test("a cycle is named, a shared object is not one", () => {
  const shared = { a: 1 };
  const value = { first: shared, second: shared };
  value.self = value;
  assert.equal(text(value), '{"first":{"a":1},"second":{"a":1},"self":"[Circular]"}');
});

test("what throws when it is read becomes a note in its place", () => {
  const value = { good: 1 };
  Object.defineProperty(value, "bad", { enumerable: true, get: () => { throw new Error("no"); } });
  assert.equal(text(value), '{"good":1,"bad":"[unreadable: no]"}');
  assert.match(text(new Proxy({}, { ownKeys: () => { throw new Error("sealed"); } })), /unreadable: sealed/);
});

test("depth and width are bounded", () => {
  let deep = {};
  for (let i = 0; i < 5_000; i++) deep = { deep };
  assert.match(text(deep), /__holdpoint_truncated__/);
  assert.match(text(new Array(20_000).fill(0)), /10000 more items skipped/);
});

test("anything can be thrown", () => {
  assert.deepEqual(describe("text"), { name: "string", message: "text", stack: "" });
  assert.equal(describe(Object.create(null)).message, "<unprintable>");
  assert.equal(describe(new RangeError("r")).name, "RangeError");
});
