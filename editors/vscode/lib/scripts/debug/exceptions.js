// `debug.exception-info`, `debug.set-exceptions`: what was thrown, and which of it stops the program.
'use strict';

const { Failure } = require('../../failure');
const { session, thread, standing } = require('./outcome');

module.exports = {
  'debug.exception-info': {
    params: { sessionId: session, threadId: thread },
    async run({ sessionId, threadId }, call) {
      const tracked = call.sessions.find(sessionId);
      if (!tracked.capabilities.supportsExceptionInfoRequest) {
        throw new Failure('E_UNSUPPORTED_CAPABILITY', 'this debugger does not tell exceptions apart');
      }
      const chosen = standing(call, tracked, threadId);
      return call.sessions.request(tracked, 'exceptionInfo', { threadId: chosen }, call.signal);
    },
  },

  'debug.set-exceptions': {
    params: { sessionId: session, filters: { type: 'strings', required: true } },
    async run({ sessionId, filters }, call) {
      const tracked = call.sessions.find(sessionId);
      const known = tracked.capabilities.exceptionBreakpointFilters ?? [];
      const available = known.map((it) => ({ filter: it.filter, label: it.label, default: it.default === true }));
      const wrong = filters.filter((it) => !known.some((filter) => filter.filter === it));
      if (wrong.length > 0) {
        throw new Failure('E_INVALID_PARAMS', `no exception filter \`${wrong[0]}\``, { details: { available } });
      }
      await call.sessions.request(tracked, 'setExceptionBreakpoints', { filters }, call.signal);
      return { filters, available };
    },
  },
};
