// Everything that turns a text into code: CommonJS, ES modules, `vm` (jest and vitest load by it). Each hands the text to
// `texts.cjs` and goes on with what comes back; the program's own loaders see the original.
'use strict';

const { apply } = Reflect;
const Module = require('node:module');
const vm = require('node:vm');
const { fileURLToPath, pathToFileURL } = require('node:url');
const { MessageChannel, receiveMessageOnPort } = require('node:worker_threads');
const texts = require('./texts.cjs');

let quietly = (work) => work();

function hook(config, quiet, offer) {
  quietly = quiet;
  commonJs();
  if (typeof Module.registerHooks === 'function') modules();
  else if (typeof Module.register === 'function') modulesAside(config);
  contexts(offer);
}

function attempt(source, file, goal, typescript) {
  try {
    return quietly(() => texts.text(source, file, goal, typescript));
  } catch {
    return null;
  }
}

function commonJs() {
  const { _compile } = Module.prototype;
  Module.prototype._compile = function compiled(content, filename, format) {
    const goal = format === 'module' ? 'module' : 'commonjs';
    const made = typeof content === 'string' ? attempt(content, filename, goal, false) : null;
    arguments[0] = made ?? content;
    return apply(_compile, this, arguments);
  };
}

function fileOf(url) {
  if (!url.startsWith('file:')) return null;
  try {
    return fileURLToPath(url.split(/[?#]/, 1)[0]);
  } catch {
    return null;
  }
}

function modules() {
  Module.registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const { format, source } = loaded;
      if (source === null || source === undefined || (format !== 'module' && format !== 'module-typescript')) return loaded;
      const file = fileOf(url);
      if (file === null || !texts.wanted(file)) return loaded;
      const made = attempt(typeof source === 'string' ? source : Buffer.from(source).toString('utf8'), file, 'module', format === 'module-typescript');
      return made === null ? loaded : { ...loaded, source: made };
    },
  });
}

// Before 22.15 the hooks of ES modules run on a thread of their own: it shares the numbers of functions with this one, and
// says by a port which it has given out.
function modulesAside(config) {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  shared[0] = texts.state.next;
  texts.state.shared = shared;
  const { port1, port2 } = new MessageChannel();
  port1.unref();
  texts.state.onUnknown = () => {
    for (let got = receiveMessageOnPort(port1); got !== undefined; got = receiveMessageOnPort(port1)) {
      const { base, functions, file, about } = got.message;
      texts.place(base, functions, { path: file.path, sha: file.sha });
      texts.files.set(about.file, about);
    }
  };
  Module.register(pathToFileURL(`${__dirname}/hooks.mjs`), {
    parentURL: pathToFileURL(__filename),
    data: { config: { ...config, exclude: [...config.exclude], focus: [] }, shared, port: port2 },
    transferList: [port2],
  });
}

function contexts(offer) {
  const { Script, createContext, compileFunction, runInThisContext, runInContext, runInNewContext } = vm;
  const instrumented = (code, options, goal) => {
    const file = typeof options === 'string' ? options : options?.filename;
    if (typeof code !== 'string' || typeof file !== 'string' || options?.lineOffset) return code;
    const real = file.startsWith('file:') ? fileOf(file) : file;
    return (real === null ? null : attempt(code, real, goal, false)) ?? code;
  };
  vm.Script = class extends Script {
    constructor(code, options) {
      super(instrumented(code, options, 'script'), options);
    }
  };
  Object.defineProperty(vm.Script, 'name', { value: 'Script', configurable: true });
  vm.createContext = function createsContext(...given) {
    const made = apply(createContext, vm, given);
    try {
      offer(runInContext('this', made));
    } catch {
      // A frozen one runs nothing of ours.
    }
    return made;
  };
  vm.compileFunction = (code, params, options) => compileFunction(instrumented(code, options, 'commonjs'), params, options);
  vm.runInThisContext = (code, options) => runInThisContext(instrumented(code, options, 'script'), options);
  vm.runInContext = (code, context, options) => runInContext(instrumented(code, options, 'script'), context, options);
  vm.runInNewContext = (code, sandbox, options) => runInNewContext(code, sandbox, options);
  Module.syncBuiltinESMExports();
}

module.exports = { hook, fileOf };
