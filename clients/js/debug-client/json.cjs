// JSON from the server, with every integer exact: one that a number cannot hold safely is a BigInt.
"use strict";

const LONG = /\d{16}/;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
const INTEGER = /^-?[1-9]\d{15,}$/;

function parse(text) {
  // Nearly always.
  if (!LONG.test(text)) return JSON.parse(text);
  // A name that nobody can know before, so no text of the server's is taken for a number.
  const mark = `integer ${Math.random()} ${Math.random()} `;
  const isUnsafe = (token) => INTEGER.test(token) && !Number.isSafeInteger(Number(token));
  const marked = text.replace(TOKEN, (token) => (isUnsafe(token) ? `"${mark}${token}"` : token));
  const isMarked = (value) => typeof value === "string" && value.startsWith(mark);
  return JSON.parse(marked, (_, value) => (isMarked(value) ? BigInt(value.slice(mark.length)) : value));
}

module.exports = { parse };
