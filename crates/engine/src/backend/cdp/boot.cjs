// Holdpoint: runs before every Node process and worker of a debugged program, by NODE_OPTIONS.
(() => {
  const door = process.env.HOLDPOINT_NODE;
  if (!door) return;
  const isMainThread = require('node:worker_threads').isMainThread;
  // Node's test runner runs nothing of the user's itself; the processes it starts do.
  if (process.execArgv.includes('--test') && !process.env.NODE_TEST_CONTEXT && isMainThread) return;
  // Called before Node ends the program for an error that nobody handled; it changes nothing. The debugger
  // stops in it and evaluates in it what frames that have ended held, which strict code could not.
  process.on('uncaughtExceptionMonitor', (error, origin) => {
    let frame;
    return [error, origin, frame]; // An error that nobody handled.
  });
  if (!isMainThread) return;
  // Children do not inherit the address; each has one of its own, opened below.
  process.execArgv = process.execArgv.filter((word) => !/^--inspect/.test(word));
  if (process.env.HOLDPOINT_NODE_MAIN) {
    delete process.env.HOLDPOINT_NODE_MAIN;
    return;
  }
  const fs = require('node:fs');
  const inspector = require('node:inspector');
  let pipe;
  try {
    // Nobody reads when the session is over; then this is a process like any other.
    pipe = fs.openSync(door, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
  } catch {
    return;
  }
  try {
    if (!inspector.url()) inspector.open(0, '127.0.0.1', false);
    fs.writeSync(pipe, JSON.stringify({ pid: process.pid, url: inspector.url() }) + '\n');
  } catch {
    return;
  } finally {
    fs.closeSync(pipe);
  }
  inspector.waitForDebugger();
})();
