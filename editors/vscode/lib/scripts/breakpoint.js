// `breakpoint.*`: the editor's own breakpoints, which need no session.
'use strict';

const fs = require('fs');
const { Failure } = require('../failure');

const place = { path: { type: 'path', required: true }, line: { type: 'integer', required: true, min: 1 } };

module.exports = {
  'breakpoint.set': {
    params: {
      ...place,
      condition: { type: 'string' },
      hitCondition: { type: 'string' },
      logMessage: { type: 'string' },
    },
    // On a line that has one already, it replaces it.
    async run({ path, line, ...what }, call) {
      const lines = countLines(path);
      if (line > lines) throw new Failure('E_INVALID_LINE', `\`${path}\` has ${lines} lines, not ${line}`);
      return { breakpoint: await call.breakpoints.set(path, line, what, call.signal) };
    },
  },

  'breakpoint.list': {
    params: {},
    async run(_, { breakpoints }) {
      const all = await Promise.all(breakpoints.all().map((it) => breakpoints.truth(it)));
      return { breakpoints: all, total: all.length };
    },
  },

  'breakpoint.remove': {
    params: place,
    async run({ path, line }, { breakpoints, signal }) {
      const there = breakpoints.at(path, line);
      if (there.length === 0) throw new Failure('E_NOT_FOUND', `no breakpoint at \`${path}:${line}\``, { hint: '`breakpoint.list` has all of them' });
      return { path, line, removed: await breakpoints.remove(there, signal) };
    },
  },

  'breakpoint.clear.file': {
    params: { path: place.path },
    async run({ path }, { breakpoints, signal }) {
      const there = breakpoints.all().filter((it) => it.location.uri.fsPath === path);
      return { cleared: await breakpoints.remove(there, signal), path };
    },
  },

  'breakpoint.clear.project': {
    params: {},
    async run(_, { breakpoints, editor, signal }) {
      return { cleared: await breakpoints.remove([...editor.debug.breakpoints], signal) };
    },
  },
};

function countLines(file) {
  let text;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch {
    throw new Failure('E_FILE_NOT_FOUND', `no file \`${file}\``);
  }
  return text.split('\n').length;
}
