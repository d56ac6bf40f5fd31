// Tracepoints that were set before the program began, as calls in its own text (`crates/instrument/src/weave.rs`): the
// texts are in the file that `HOLDPOINT_WEAVE` names. One that is loaded as it was when they were made is replaced; every
// other runs as it is, and is traced by the debugger. Whatever goes wrong here, the program goes on.
'use strict';

const { apply } = Reflect;
const fs = require('node:fs');
const Module = require('node:module');
const { pathToFileURL } = require('node:url');
const { compileFunction } = require('node:vm');
const { isMainThread, parentPort } = require('node:worker_threads');

const NAME = '$hpt';

function start() {
  const file = process.env.HOLDPOINT_WEAVE;
  // Coverage counts in the text as it is. The thread on which Node runs the hooks of ES modules runs nothing of the program.
  if (!file || process.env.NODE_V8_COVERAGE || Object.hasOwn(globalThis, NAME)) return;
  if (!isMainThread && parentPort === null) return;
  const { files } = JSON.parse(fs.readFileSync(file, 'utf8'));
  const texts = require('./texts.cjs');
  const calls = new Map();
  for (const [name, { source, made, places, calls: own }] of Object.entries(files)) {
    texts.files.set(name, { file: name, source, made, places, pieces: null });
    for (const call of own) calls.set(call.id, compiled(call));
  }
  const kept = (globalThis[Symbol.for('holdpoint')] ??= { hits: {}, error: undefined });
  // The debugger brings what answers, and until then nothing is told.
  const probe = (id, ...values) => kept.probe !== undefined && kept.probe(id, calls.get(id), values);
  kept.woven = probe;
  Object.defineProperty(globalThis, NAME, { value: probe });
  commonJs(files);
  if (Object.values(files).some((it) => it.module)) modules(files);
  require('./stacks.cjs').mend(globalThis);
  require('./crash.cjs').watchWoven();
}

// What a call evaluates: functions of what it is given.
function compiled({ names, condition, expressions }) {
  const one = (text) => compileFunction(`'use strict';return(${text})`, names, { filename: 'node:holdpoint/weave' });
  return { condition: condition === null ? null : one(condition), expressions: expressions.map(one) };
}

function text(files, name, source) {
  const found = Object.hasOwn(files, name) ? files[name] : undefined;
  return found !== undefined && found.source === source ? found.made : null;
}

function commonJs(files) {
  const { _compile } = Module.prototype;
  Module.prototype._compile = function compiled(content, filename) {
    arguments[0] = text(files, filename, content) ?? content;
    return apply(_compile, this, arguments);
  };
}

function modules(files) {
  if (typeof Module.registerHooks === 'function') {
    const { fileOf } = require('./loaders.cjs');
    Module.registerHooks({
      load(url, context, nextLoad) {
        const loaded = nextLoad(url, context);
        const { format, source } = loaded;
        const file = fileOf(url);
        if (format !== 'module' || source === null || source === undefined || file === null) return loaded;
        const made = text(files, file, typeof source === 'string' ? source : Buffer.from(source).toString('utf8'));
        return made === null ? loaded : { ...loaded, source: made };
      },
    });
  } else if (typeof Module.register === 'function') {
    Module.register(pathToFileURL(`${__dirname}/weaving.mjs`), { parentURL: pathToFileURL(__filename), data: files });
  }
}

try {
  start();
} catch (error) {
  if (process.env.HOLDPOINT_RECORD_DEBUG) process._rawDebug('holdpoint weave:', error);
}
//# sourceURL=node:holdpoint/weave
