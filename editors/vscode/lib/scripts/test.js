// `test.debug-single`: the test at a line, under the debugger.
'use strict';

const { Failure } = require('../failure');
const { patience, comesToRest } = require('./debug/outcome');
const { show } = require('./editor').shared;

module.exports = {
  'test.debug-single': {
    moves: true,
    params: {
      path: { type: 'path', required: true },
      line: { type: 'integer', required: true, min: 1 },
      column: { type: 'integer', min: 1, default: 1 },
      timeoutMs: patience(30000),
    },
    async run({ path, line, column, timeoutMs }, call) {
      const deadline = Date.now() + timeoutMs;
      const { editor, sessions, signal } = call;
      await show(editor, path, line, column);
      const before = new Set([...sessions.all.keys(), ...sessions.ended.map((it) => it.id)]);
      let isOver = false;
      const over = () => {
        isOver = true;
        sessions.changed();
      };
      Promise.resolve(editor.commands.executeCommand('testing.debugAtCursor')).then(over, over);
      const isNew = (it) => !before.has(it.id) && it.isAnnounced && !it.parentId;
      const root = await sessions.wait(() => {
        const found = sessions.live().find(isNew) ?? sessions.ended.find(isNew);
        if (found) return found;
        if (isOver) throw new Failure('E_NO_TEST_AT_CURSOR', `no test at \`${path}:${line}\` was started`, { hint: 'open the testing view with `editor.show-testing-ui`, so that tests are found, then try again' });
        return undefined;
      }, { signal, ms: timeoutMs });
      if (!root) throw new Failure('E_TIMEOUT', `no test was started within ${timeoutMs} ms`, { details: { state: 'starting' } });
      root.startedBy = 'agent';
      const rest = await comesToRest(call, root, new Map(), Math.max(1, deadline - Date.now()));
      return { ...rest, sessionName: root.name, workspaceFolder: root.session.workspaceFolder?.uri.fsPath ?? null };
    },
  },
};
