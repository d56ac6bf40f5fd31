// The recorder's way into a Node program: `NODE_OPTIONS=--require=…/register.cjs`, so that children and workers have it too.
// It records only where `HOLDPOINT_RECORD` names a configuration; whatever goes wrong here, the program goes on without it.
'use strict';

const SIGN = Symbol.for('holdpoint.record');

function start() {
  const file = process.env.HOLDPOINT_RECORD;
  if (!file || globalThis[SIGN] !== undefined) return;
  // The thread on which Node runs the hooks of ES modules runs nothing of the program.
  const { isMainThread, parentPort } = require('node:worker_threads');
  if (!isMainThread && parentPort === null) return;
  const config = require('./config.cjs').read(file);
  if (config === null) return;
  Object.defineProperty(globalThis, SIGN, { value: true });
  require('./recorder.cjs').begin(config);
}

try {
  start();
} catch (error) {
  if (process.env.HOLDPOINT_RECORD_DEBUG) process._rawDebug('holdpoint record:', error);
}
