// `debug.sessions`, `debug.status`, `debug.threads`, `debug.stack`, `debug.scopes`, `debug.tracker`: what there is.
'use strict';

const { plainPath } = require('../../places');
const limits = require('../../limits');
const { session, thread, standing } = require('./outcome');

module.exports = {
  'debug.sessions': {
    params: {},
    async run(_, { sessions, editor }) {
      const active = editor.debug.activeDebugSession?.id ?? null;
      const shown = sessions.live().map((it) => {
        const { sessionId, ...rest } = it.introduction();
        const stopped = it.isStopped ? { state: 'stopped', threadId: it.stop.threadId } : { state: 'running' };
        return { id: sessionId, ...rest, active: it.id === active, ...stopped };
      });
      return { sessions: shown, activeSessionId: active };
    },
  },

  'debug.status': { params: { sessionId: session }, run: status },

  'debug.threads': {
    params: { sessionId: session },
    async run({ sessionId }, call) {
      const tracked = call.sessions.find(sessionId);
      const { threads } = await call.sessions.request(tracked, 'threads', undefined, call.signal);
      return { threads: shownThreads(tracked, threads ?? []), activeThreadId: tracked.stop?.threadId ?? null, sessionId: tracked.id };
    },
  },

  'debug.stack': {
    params: {
      sessionId: session,
      threadId: thread,
      start: { type: 'integer', min: 0, default: 0 },
      count: { type: 'integer', min: 1, max: limits.FRAMES, default: 50 },
    },
    async run({ sessionId, threadId, start, count }, call) {
      const tracked = call.sessions.find(sessionId);
      const chosen = standing(call, tracked, threadId);
      const { frames, total } = await stack(call, tracked, chosen, start, count);
      return { frames, totalFrames: total, threadId: chosen, sessionId: tracked.id };
    },
  },

  'debug.scopes': {
    params: { frameId: { type: 'integer', required: true, min: 0 }, sessionId: session },
    async run({ frameId, sessionId }, call) {
      const tracked = call.sessions.find(sessionId);
      const { scopes } = await call.sessions.request(tracked, 'scopes', { frameId }, call.signal);
      return { scopes: (scopes ?? []).map(shownScope), sessionId: tracked.id };
    },
  },

  'debug.tracker': {
    params: {},
    async run(_, { sessions }) {
      const stopped = sessions.live().find((it) => it.lastStop);
      return {
        message: 'every session is tracked from its start; events.ndjson has what happens',
        instructions: [],
        previousData: {
          capabilities: Object.fromEntries(sessions.live().map((it) => [it.id, it.capabilities])),
          sessionsTracked: sessions.live().length + sessions.ended.length,
          lastStoppedEvent: stopped ? stopped.stopEvent(stopped.lastStop) : null,
        },
      };
    },
  },
};

async function status({ sessionId }, call) {
  const { sessions, editor, signal } = call;
  const all = call.breakpoints.all();
  if (sessionId === undefined && sessions.live().length === 0) {
    return { isActive: false, isPaused: false, totalBreakpoints: all.length, message: 'no debug session lives' };
  }
  const tracked = sessions.find(sessionId);
  const { threads } = await sessions.request(tracked, 'threads', undefined, signal);
  const answer = {
    isActive: true,
    isPaused: tracked.isStopped,
    sessionId: tracked.id,
    sessionType: tracked.type,
    sessionName: tracked.name,
    sessionConfiguration: tracked.session.configuration,
    threads: shownThreads(tracked, threads ?? []),
    totalBreakpoints: all.length,
  };
  if (!tracked.isStopped) return { ...answer, message: 'the program runs' };
  return { ...answer, ...(await standingStatus(call, tracked, threads ?? [])) };
}

async function standingStatus(call, tracked, threads) {
  const threadId = standing(call, tracked, undefined);
  const { frames, total } = await stack(call, tracked, threadId, 0, 50);
  const top = frames[0];
  const asked = top ? await call.sessions.request(tracked, 'scopes', { frameId: top.id }, call.signal) : {};
  const hit = new Set(tracked.stop?.hitBreakpointIds ?? []);
  const breakpoints = call.breakpoints.all().filter((it) => hit.has(it.id));
  const hitBreakpoint = breakpoints.length > 0 ? await call.breakpoints.truth(breakpoints[0]) : undefined;
  return {
    currentThread: threads.find((it) => it.id === threadId) ?? { id: threadId, name: `Thread ${threadId}` },
    stackFrames: frames,
    totalFrames: total,
    currentLocation: top && { source: top.source, line: top.line, column: top.column, functionName: top.name, frameId: top.id },
    scopes: (asked.scopes ?? []).map(shownScope),
    stopReason: tracked.stop?.reason,
    ...(hitBreakpoint ? { hitBreakpoint } : {}),
  };
}

async function stack(call, tracked, threadId, startFrame, levels) {
  const answer = await call.sessions.request(tracked, 'stackTrace', { threadId, startFrame, levels }, call.signal);
  // Some debuggers send all of it whatever they are asked for.
  const frames = (answer.stackFrames ?? []).slice(0, levels).map(shownFrame);
  return { frames, total: answer.totalFrames ?? startFrame + frames.length };
}

function shownFrame({ id, name, source, line, column, presentationHint }) {
  const from = {};
  if (source?.path) from.path = plainPath(source.path);
  if (source?.name) from.name = source.name;
  if (source?.sourceReference) from.sourceReference = source.sourceReference;
  return { id, name, source: from, line, column, ...(presentationHint ? { presentationHint } : {}) };
}

function shownScope({ name, variablesReference, expensive, namedVariables, indexedVariables, presentationHint }) {
  return { name, variablesReference, expensive: expensive === true, namedVariables, indexedVariables, presentationHint };
}

function shownThreads(tracked, threads) {
  const stands = (id) => tracked.threads.get(id) ?? tracked.stop?.body.allThreadsStopped === true;
  return threads.map(({ id, name }) => ({ id, name, stopped: stands(id) }));
}
