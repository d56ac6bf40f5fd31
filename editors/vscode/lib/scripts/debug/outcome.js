// How a program that was let go came to rest: stopped, ended, or neither in time.
'use strict';

const { Failure } = require('../../failure');
const limits = require('../../limits');
const { within } = require('../../sessions');

const session = { type: 'string' };
const thread = { type: 'integer', min: 0 };
const patience = (ms) => ({ type: 'integer', min: 1, max: 300000, default: ms });

// How often each session of a family has stopped, before something moves it.
function marks(sessions, tracked) {
  return new Map(sessions.family(tracked).map((it) => [it.id, it.stops]));
}

// Waits for a stop after the marks in any session of the family, or for the end of this one.
async function comesToRest(call, tracked, before, ms) {
  const { sessions, signal } = call;
  const found = await sessions.wait(() => {
    const members = tracked.endedAt === undefined ? sessions.family(tracked) : [];
    const stopped = members.find((it) => it.stops > (before.get(it.id) ?? 0));
    if (stopped) return { tracked: stopped, stop: stopped.lastStop };
    if (tracked.endedAt !== undefined) return { ended: tracked };
    return undefined;
  }, { signal, ms });
  if (!found) return lateOutcome(tracked, ms);
  if (found.ended) return endedOutcome(tracked);
  // The stop is told already; the answer may wait a little longer to say where.
  await within(found.stop.located, limits.LOCATE_PATIENCE_MS);
  return stoppedOutcome(found.tracked, found.stop);
}

function stoppedOutcome(tracked, stop) {
  const { allThreadsStopped, ...told } = tracked.stopEvent(stop);
  return { event: 'stopped', ...told };
}

function endedOutcome(tracked) {
  const exit = tracked.exitCode === undefined ? {} : { exitCode: tracked.exitCode };
  return { event: 'terminated', sessionId: tracked.id, ...exit };
}

// A success by its shape, as the public bridge has it: whoever reads it looks at `event`.
function lateOutcome(tracked, ms) {
  return {
    event: 'error',
    sessionId: tracked.id,
    code: 'E_NOT_STOPPED',
    message: `no stop within ${ms} ms; the program runs`,
    hint: 'wait for the `stopped` event, or send `debug.pause`',
    detail: { state: tracked.isStopped ? 'stopped' : 'running', timeoutMs: ms },
  };
}

// The thread that is meant: the one named, the one the person looks at, the one that stopped last.
function standing(call, tracked, threadId) {
  if (threadId !== undefined) return threadId;
  const looked = call.editor.debug.activeStackItem;
  if (looked?.session?.id === tracked.id && tracked.threads.get(looked.threadId) === true) return looked.threadId;
  const stopped = tracked.stop?.threadId ?? [...tracked.threads].find(([, stands]) => stands)?.[0];
  if (stopped === undefined) {
    throw new Failure('E_NOT_STOPPED', 'no thread of it stands', { details: { sessionId: tracked.id, state: 'running' } });
  }
  return stopped;
}

module.exports = { session, thread, patience, marks, comesToRest, endedOutcome, standing };
