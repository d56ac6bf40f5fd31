// `search.symbol-search`: symbols of the workspace, or the outline of one file.
'use strict';

const fs = require('fs');
const { Failure } = require('../failure');
const { shownRange } = require('../places');
const { KINDS, ask, symbolsOf } = require('./symbols');

module.exports = {
  'search.symbol-search': {
    params: {
      query: { type: 'string', empty: true, default: '' },
      mode: { type: 'enum', values: ['workspace', 'document'], default: 'workspace' },
      path: { type: 'path' },
      kinds: { type: 'string' },
      limit: { type: 'integer', min: 1, max: 1000, default: 100 },
      includeLocation: { type: 'boolean', default: true },
      includeContainer: { type: 'boolean', default: true },
    },
    async run(given, call) {
      const { query, mode, limit } = given;
      const kinds = given.kinds?.split(',').map((it) => it.trim().toLowerCase()).filter(Boolean);
      const found = await (mode === 'document' ? inFile(given, call) : inWorkspace(given, call));
      const wanted = found.filter((it) => !kinds?.length || kinds.includes(it.kind.toLowerCase()));
      const shown = wanted.slice(0, limit).map((it) => trimmed(it, given));
      const byKind = {};
      for (const it of wanted) byKind[it.kind] = (byKind[it.kind] ?? 0) + 1;
      return {
        mode,
        query,
        filters: { kinds: kinds ?? [], limit },
        results: { total: wanted.length, returned: shown.length, truncated: wanted.length > shown.length },
        statistics: { byKind },
        symbols: shown,
      };
    },
  },
};

async function inFile({ path, query }, call) {
  if (path === undefined) throw new Failure('E_INVALID_PARAMS', '`path` is missing', { hint: 'mode `document` needs the file' });
  if (!fs.existsSync(path)) throw new Failure('E_FILE_NOT_FOUND', `no file \`${path}\``);
  const uri = call.editor.Uri.file(path);
  await call.editor.workspace.openTextDocument(uri);
  const symbols = await symbolsOf(call, uri);
  const wanted = symbols.filter((it) => it.name.toLowerCase().includes(query.toLowerCase()));
  return wanted.map((it) => ({ name: it.name, kind: it.kind, container: it.container, file: path, range: it.range }));
}

async function inWorkspace({ query, path }, call) {
  const found = (await ask(call, 'vscode.executeWorkspaceSymbolProvider', query)) ?? [];
  const all = found.map((it) => ({
    name: it.name, kind: KINDS[it.kind] ?? 'unknown', container: it.containerName || undefined, file: it.location.uri.fsPath, range: it.location.range,
  }));
  return path === undefined ? all : all.filter((it) => it.file === path);
}

function trimmed({ name, kind, container, file, range }, { includeLocation, includeContainer }) {
  const shown = { name, kind };
  if (includeContainer && container) shown.container = container;
  if (includeLocation) shown.location = { file, line: range.start.line + 1, character: range.start.character, range: shownRange(range) };
  return shown;
}
