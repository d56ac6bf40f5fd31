// `debug.continue`, `debug.step-*`, `debug.pause`, `debug.wait-for-hit`: a program goes on, and comes to rest.
'use strict';

const { session, thread, patience, marks, comesToRest, standing } = require('./outcome');
const { Failure } = require('../../failure');
const limits = require('../../limits');
const { within } = require('../../sessions');

const params = (ms) => ({
  sessionId: session,
  threadId: thread,
  timeoutMs: patience(ms),
  wait: { type: 'boolean', default: true },
});

// One request, then the stop that follows it.
async function move(command, { sessionId, threadId, timeoutMs, wait }, call) {
  const tracked = call.sessions.find(sessionId);
  const chosen = standing(call, tracked, threadId);
  if (tracked.threads.get(chosen) !== true && !tracked.isStopped) {
    throw new Failure('E_NOT_STOPPED', `thread ${chosen} runs`, { details: { sessionId: tracked.id, state: 'running' } });
  }
  const before = marks(call.sessions, tracked);
  const answer = await call.sessions.request(tracked, command, { threadId: chosen }, call.signal);
  if (command === 'continue' && threadId === undefined) await continueOthers(call, tracked, chosen, answer);
  if (!wait) return { event: 'running', sessionId: tracked.id, threadId: chosen };
  return comesToRest(call, tracked, before, timeoutMs);
}

// Debuggers that let one thread go at a time: whoever continues a program means all of it.
async function continueOthers(call, tracked, chosen, answer) {
  if (answer?.allThreadsContinued !== false) return;
  const others = [...tracked.threads].filter(([id, stands]) => stands && id !== chosen).map(([id]) => id);
  for (const threadId of others) {
    try {
      await call.sessions.request(tracked, 'continue', { threadId }, call.signal);
    } catch (error) {
      if (call.signal.aborted) throw error;
      // It ended meanwhile, or went on by itself.
    }
  }
}

const step = (command) => ({ moves: true, params: params(5000), run: (given, call) => move(command, given, call) });

module.exports = {
  'debug.continue': { moves: true, params: params(30000), run: (given, call) => move('continue', given, call) },
  'debug.step-over': step('next'),
  'debug.step-into': step('stepIn'),
  'debug.step-out': step('stepOut'),

  'debug.pause': {
    moves: true,
    params: { sessionId: session, threadId: thread },
    async run({ sessionId, threadId }, call) {
      const tracked = call.sessions.find(sessionId);
      const chosen = threadId ?? [...tracked.threads.keys()][0] ?? (await firstThread(call, tracked));
      await call.sessions.request(tracked, 'pause', { threadId: chosen }, call.signal);
      return { paused: true, sessionId: tracked.id };
    },
  },

  'debug.wait-for-hit': {
    params: { sessionId: session, timeoutMs: patience(30000), afterStop: { type: 'integer', min: 0 } },
    // `afterStop` is of a wait before: what stopped since then was missed by nobody.
    async run({ sessionId, timeoutMs, afterStop }, call) {
      const { sessions, signal } = call;
      const only = sessionId === undefined ? undefined : sessions.root(sessions.find(sessionId));
      const ended = () => new Failure('E_SESSION_TERMINATED', 'the program ended without a stop');
      if (sessions.live().length === 0) throw afterStop === undefined ? new Failure('E_NO_SESSION', 'no debug session lives') : ended();
      const after = afterStop ?? sessions.stopCount;
      const found = await sessions.wait(() => {
        const members = only ? sessions.family(only) : sessions.live();
        if (members.length === 0) throw ended();
        return members.find((it) => it.lastStop?.number > after);
      }, { signal, ms: timeoutMs });
      if (!found) throw new Failure('E_TIMEOUT', `no stop within ${timeoutMs} ms`, { details: { state: 'running', again: { afterStop: after } } });
      const stop = found.lastStop;
      await within(stop.located, limits.LOCATE_PATIENCE_MS);
      const told = found.stopEvent(stop);
      const breakpoint = { path: told.file, line: told.line, hitCount: found.stops };
      return { event: 'breakpoint-hit', breakpoint, ...told, timestamp: new Date(stop.at).toISOString() };
    },
  },
};

async function firstThread(call, tracked) {
  const { threads } = await call.sessions.request(tracked, 'threads', undefined, call.signal);
  if (!threads?.length) throw new Failure('E_NO_THREADS', 'it has no threads');
  return threads[0].id;
}
