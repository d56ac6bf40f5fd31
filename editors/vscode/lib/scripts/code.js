// `code.replace-method`: the whole text of a symbol, replaced and saved.
'use strict';

const fs = require('fs');
const { Failure } = require('../failure');
const { shownRange } = require('../places');
const { target, theSymbol } = require('./symbols');

const SHOWN = 100;

module.exports = {
  'code.replace-method': {
    params: { ...target, replacement: { type: 'string', required: true, empty: true } },
    async run(given, call) {
      const { editor, signal } = call;
      const symbol = await theSymbol(given, call);
      const file = symbol.uri.fsPath;
      try {
        fs.accessSync(file, fs.constants.W_OK);
      } catch {
        throw new Failure('E_FILE_READ_ONLY', `\`${file}\` cannot be written`);
      }
      const document = await editor.workspace.openTextDocument(symbol.uri);
      const before = document.getText(symbol.range);
      const edit = new editor.WorkspaceEdit();
      edit.replace(symbol.uri, symbol.range, given.replacement);
      if (signal.aborted) throw signal.reason;
      if (!(await editor.workspace.applyEdit(edit))) throw new Failure('E_OPERATION_FAILED', 'the editor did not take the change');
      if (!(await document.save())) throw new Failure('E_OPERATION_FAILED', `\`${file}\` could not be saved`);
      const change = {
        file,
        range: shownRange(symbol.range),
        oldText: before.slice(0, SHOWN),
        newText: given.replacement.slice(0, SHOWN),
        oldTextLength: before.length,
        newTextLength: given.replacement.length,
      };
      const input = { path: file, symbol: symbol.fullName };
      return { applied: true, changes: [change], succeeded: [file], failed: [], totalFiles: 1, totalEdits: 1, input };
    },
  },
};
