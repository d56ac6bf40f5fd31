// `dap.*`: what the sessions of this window printed, threw and did, also of those that have ended. Times are those
// at which it happened.
'use strict';

const { Failure } = require('../failure');
const analysis = require('../analysis');

const session = { sessionId: { type: 'string' } };
const CATEGORIES = ['all', 'stdout', 'stderr', 'console', 'telemetry'];

const of = (work) => async (given, call) => work(chosen(call.sessions, given.sessionId), given);

module.exports = {
  'dap.logs': {
    params: {
      ...session,
      count: { type: 'integer', min: 1, max: 10000, default: 20 },
      category: { type: 'enum', values: CATEGORIES, default: 'all' },
      search: { type: 'string' },
      since: { type: 'integer', min: 0 },
      reverse: { type: 'boolean', default: false },
      showSource: { type: 'boolean', default: true },
    },
    run: of(analysis.logs),
  },
  'dap.search': {
    params: {
      ...session,
      pattern: { type: 'string', required: true },
      category: { type: 'enum', values: CATEGORIES },
      contextLines: { type: 'integer', min: 0, max: 20, default: 2 },
      limit: { type: 'integer', min: 1, max: 1000, default: 50 },
      caseSensitive: { type: 'boolean', default: false },
    },
    async run(given, { sessions }) {
      const all = given.sessionId === undefined ? known(sessions) : [chosen(sessions, given.sessionId)];
      return analysis.search(all, given);
    },
  },
  'dap.filter': { params: { ...session, filters: { type: 'object', required: true } }, run: of(analysis.filter) },
  'dap.exceptions': {
    params: {
      ...session,
      count: { type: 'integer', min: 1, max: 100, default: 10 },
      withContext: { type: 'boolean', default: true },
      contextLines: { type: 'integer', min: 0, max: 50, default: 5 },
    },
    run: of(analysis.exceptions),
  },
  'dap.timeline': {
    params: {
      ...session,
      eventTypes: { type: 'strings' },
      window: { type: 'integer', min: 1 },
      granularity: { type: 'enum', values: ['all', 'summary', 'milestones'], default: 'all' },
      fromEnd: { type: 'boolean', default: false },
    },
    run: of(analysis.timeline),
  },
  'dap.stats': {
    params: {
      ...session,
      groupBy: { type: 'enum', values: ['category', 'source', 'hour', 'session'], default: 'category' },
      includeCharts: { type: 'boolean', default: true },
    },
    run: of(analysis.stats),
  },
  'dap.summary': { params: { ...session, compact: { type: 'boolean', default: false } }, run: of(analysis.summary) },
  'dap.compare': {
    params: {
      sessionA: { type: 'string', required: true },
      sessionB: { type: 'string', required: true },
      compareBy: { type: 'enum', values: ['counts', 'exceptions', 'timeline', 'outputs'], default: 'counts' },
    },
    async run({ sessionA, sessionB, compareBy }, { sessions }) {
      return analysis.compare(chosen(sessions, sessionA), chosen(sessions, sessionB), compareBy);
    },
  },
};

function known(sessions) {
  return [...sessions.ended, ...sessions.live()];
}

// The one named, else the last that printed or stopped.
function chosen(sessions, id) {
  const all = known(sessions);
  if (id !== undefined) {
    const found = all.findLast((it) => it.id === id);
    if (found) return found;
    throw new Failure('E_SESSION_NOT_FOUND', `no session \`${id}\` is known`, { details: { sessions: all.map((it) => ({ id: it.id, name: it.name })) } });
  }
  const last = all.findLast((it) => it.outputs.length > 0 || it.stops > 0) ?? all.at(-1);
  if (!last) throw new Failure('E_NO_SESSION', 'no debug session was seen in this window');
  return last;
}
