// `editor.*`: what the person sees.
'use strict';

const fs = require('fs');
const { Failure } = require('../failure');
const { symbolsOf, pathTo } = require('./symbols');

module.exports = {
  'editor.get-context': {
    params: {},
    async run(_, call) {
      const context = await contextOf(call);
      if (context) call.envelope.editorContext = context;
      const message = context ? 'the active editor' : 'no editor is active';
      return { message, contextAvailable: context !== undefined, file: context?.file.path ?? null, line: context?.cursor.line ?? null };
    },
  },

  'editor.goto-line': {
    params: {
      path: { type: 'path', required: true },
      line: { type: 'integer', required: true, min: 1 },
      column: { type: 'integer', min: 1, default: 1 },
    },
    async run({ path, line, column }, { editor }) {
      await show(editor, path, line, column);
      return { message: `at ${path}:${line}:${column}`, file: path, line, column, timestamp: new Date().toISOString() };
    },
  },

  'editor.show-testing-ui': {
    params: {},
    async run(_, { editor }) {
      await editor.commands.executeCommand('workbench.view.testing.focus');
      return { message: 'the testing view is open', timestamp: new Date().toISOString() };
    },
  },
};

// Opens a file as a tab that stays, with the cursor there.
async function show(editor, path, line, column) {
  if (!fs.existsSync(path)) throw new Failure('E_FILE_NOT_FOUND', `no file \`${path}\``);
  const document = await editor.workspace.openTextDocument(editor.Uri.file(path));
  if (line > document.lineCount) throw new Failure('E_INVALID_LINE', `\`${path}\` has ${document.lineCount} lines, not ${line}`);
  const opened = await editor.window.showTextDocument(document, { preview: false });
  const at = new editor.Position(line - 1, column - 1);
  opened.selection = new editor.Selection(at, at);
  opened.revealRange(new editor.Range(at, at), editor.TextEditorRevealType.InCenter);
  return opened;
}

async function contextOf(call) {
  const active = call.editor.window.activeTextEditor;
  if (!active) return undefined;
  const { document, selection } = active;
  const at = selection.active;
  const text = document.getText(selection);
  const symbols = await symbolsOf(call, document.uri).catch(() => []);
  const scopes = pathTo(symbols, at);
  const shown = (it) => ({ line: it.line + 1, character: it.character + 1 });
  return {
    file: { path: document.uri.fsPath, languageId: document.languageId, lineCount: document.lineCount, isDirty: document.isDirty },
    cursor: shown(at),
    selection: selection.isEmpty ? { isEmpty: true } : { isEmpty: false, text: text.slice(0, 2000), range: { start: shown(selection.start), end: shown(selection.end) } },
    symbols: {
      totalInDocument: symbols.length,
      containingScopes: scopes.slice(-10),
      immediateScope: scopes.at(-1) ?? null,
      scopeHierarchy: scopes.map((it) => it.name).join(' > '),
    },
  };
}

// For other families; it is no script itself.
Object.defineProperty(module.exports, 'shared', { value: { show }, enumerable: false });
