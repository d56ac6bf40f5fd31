// How the process ends, as far as it knows: the last buffer goes out behind the program's own `exit` handlers.
'use strict';

const { apply } = Reflect;
const stream = require('./stream.cjs');

function watch({ finish, uncaught }) {
  const { emit } = process;
  let ended = false;
  const end = (code) => {
    if (ended) return;
    ended = true;
    try {
      finish();
      stream.end({ exit: code });
    } catch {
      // The program ends as it would.
    }
  };
  define('emit', function emitted(name) {
    if (name !== 'exit') return apply(emit, this, arguments);
    try {
      return apply(emit, this, arguments);
    } finally {
      end(process.exitCode ?? arguments[1] ?? 0);
    }
  });
  const { reallyExit, abort, kill } = process;
  define('reallyExit', function reallyExits(code) {
    end(code ?? 0);
    return apply(reallyExit, process, [code]);
  });
  define('abort', function aborts() {
    stream.flush();
    return apply(abort, process, []);
  });
  define('kill', function kills(pid, signal) {
    if (pid === process.pid) stream.flush();
    return apply(kill, process, [pid, signal]);
  });
  process.on('uncaughtExceptionMonitor', (error) => {
    try {
      uncaught(error);
      stream.flush();
    } catch {
      // The program's own exception matters more.
    }
  });
  return end;
}

function define(name, value) {
  Object.defineProperty(process, name, { value, writable: true, configurable: true, enumerable: false });
}

module.exports = { watch };
