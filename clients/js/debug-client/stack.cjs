// Where a call was made: the user's frames, innermost first, in the words of V8 and of the others.
"use strict";

const limits = require("./limits.cjs");

// Formatting a stack takes far longer than taking it, and equal ones come again and again.
const known = new Map();
const isOurs = ours(textOf(new Error()).split("\n").map(frame).find(Boolean)?.filename);

// An error that knows the stack; it is made text when somebody wants it.
function trace(frames) {
  try {
    const { stackTraceLimit } = Error;
    // Some of them are ours, and V8 would keep ten.
    Error.stackTraceLimit = 2 * frames + 6;
    const taken = new Error();
    Error.stackTraceLimit = stackTraceLimit;
    return { taken, frames };
  } catch {
    // In a frozen world the stack is as long as it is.
    return { taken: new Error(), frames };
  }
}

function framesOf({ taken, frames }) {
  const text = textOf(taken);
  const key = `${frames} ${text}`;
  const found = known.get(key);
  if (found) return found;
  const all = text.split("\n").map(frame).filter(Boolean);
  const made = all.filter(({ filename }) => !isOurs(filename)).slice(0, frames);
  if (known.size >= limits.STACK_CACHE) known.clear();
  known.set(key, made);
  return made;
}

// The app may have its own way of making a stack's text.
function textOf(error) {
  try {
    return String(error.stack ?? "");
  } catch {
    return "";
  }
}

function frame(line) {
  const found = line.match(/^\s*at (?:(?:async )?(.*?) \()?(.*?):(\d+):\d+\)?$/) ?? line.match(/^(.*?)@(.*?):(\d+):\d+$/);
  if (!found) return null;
  const [, name, filename, lineno] = found;
  return { filename: filename.replace(/^file:\/\//, ""), lineno: Number(lineno), function: name || "<anonymous>", code_context: null };
}

// As one file all of it is ours, as an installed package a folder. Bundled with the app, nothing tells us apart.
function ours(here) {
  if (typeof SERVER_URL === "string") return (filename) => filename === here;
  const folder = here?.endsWith("/debug-client/stack.cjs") ? here.slice(0, -"stack.cjs".length) : null;
  return (filename) => folder !== null && filename.startsWith(folder);
}

module.exports = { trace, framesOf };
