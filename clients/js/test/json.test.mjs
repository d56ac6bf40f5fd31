// Integers beyond what a number holds, as they come from the server.

import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "../debug-client/json.cjs";

const cases = [
  ["1180591620717411303425", 2n ** 70n + 1n],
  ["-1180591620717411303424", -(2n ** 70n)],
  ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ["9007199254740993", 9007199254740993n],
  ["1e30", 1e30],
  ["0.12345678901234567890", 0.12345678901234568],
  ["12345678901234567890.5", 12345678901234567890.5],
  ['"1180591620717411303425"', "1180591620717411303425"],
];
for (const [text, expected] of cases) {
  test(`exact: ${text}`, () => assert.deepEqual(parse(text), expected));
}

test("strings and names are left alone, whatever they hold", () => {
  const value = { '1180591620717411303425 \\" ': ['1180591620717411303425 "\\', "\\\\", [{ a: 1 }]] };
  assert.deepEqual(parse(JSON.stringify(value)), value);
});

test("what is no JSON is none", () => {
  for (const text of ["", "{", "01180591620717411303425", "1180591620717411303425 1", "--1180591620717411303425"]) {
    assert.throws(() => parse(text), SyntaxError, text);
  }
});
