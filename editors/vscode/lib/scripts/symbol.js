// `symbol.*`: who uses a symbol, who calls it, and another name for it. Lines are counted from 1 everywhere.
'use strict';

const { Failure } = require('../failure');
const { shownRange } = require('../places');
const { KINDS, ask, target, theSymbol, nodeIdOf } = require('./symbols');

const ids = { enrichWithFlowspaceIds: { type: 'boolean', default: false } };

module.exports = {
  'symbol.navigate': {
    params: {
      ...target,
      action: { type: 'enum', values: ['references', 'implementations'], default: 'references' },
      includeDeclaration: { type: 'boolean', default: true },
      ...ids,
    },
    async run(given, call) {
      const symbol = await theSymbol(given, call);
      const command = given.action === 'references' ? 'vscode.executeReferenceProvider' : 'vscode.executeImplementationProvider';
      const found = (await ask(call, command, symbol.uri, symbol.at)) ?? [];
      const places = found.map((it) => ({ uri: it.uri ?? it.targetUri, range: it.range ?? it.targetSelectionRange ?? it.targetRange }));
      const isOwn = ({ uri, range }) => uri.fsPath === symbol.uri.fsPath && range.start.isEqual(symbol.at);
      const wanted = places.filter((it) => given.includeDeclaration || !isOwn(it));
      const locations = wanted.map(({ uri, range }) => ({ file: uri.fsPath, range: shownRange(range) }));
      return { action: given.action, input: inputOf(given, symbol), locations, total: locations.length };
    },
  },

  'symbol.calls': {
    params: { ...target, direction: { type: 'enum', values: ['incoming', 'outgoing'], default: 'incoming' }, ...ids },
    run: calls,
  },

  'symbol.rename': {
    params: { ...target, newName: { type: 'string', required: true } },
    async run(given, call) {
      const symbol = await theSymbol(given, call);
      const edit = await ask(call, 'vscode.executeDocumentRenameProvider', symbol.uri, symbol.at, given.newName);
      if (!edit || edit.size === 0) throw new Failure('E_OPERATION_FAILED', `the language server does not rename \`${symbol.fullName}\``);
      const entries = edit.entries();
      if (call.signal.aborted) throw call.signal.reason;
      if (!(await call.editor.workspace.applyEdit(edit))) throw new Failure('E_OPERATION_FAILED', 'the editor did not take the changes');
      for (const [uri] of entries) await (await call.editor.workspace.openTextDocument(uri)).save();
      const changes = entries.map(([uri, edits]) => ({ file: uri.fsPath, editCount: edits.length }));
      const totalEdits = changes.reduce((sum, it) => sum + it.editCount, 0);
      return { applied: true, changes, totalFiles: changes.length, totalEdits, input: { ...inputOf(given, symbol), newName: given.newName } };
    },
  },
};

async function calls(given, call) {
  const symbol = await theSymbol(given, call);
  const prepared = (await ask(call, 'vscode.prepareCallHierarchy', symbol.uri, symbol.at)) ?? [];
  if (prepared.length === 0) throw new Failure('E_NO_LANGUAGE_SERVER', `nobody here knows the calls of \`${symbol.fullName}\``);
  const isIncoming = given.direction === 'incoming';
  const command = isIncoming ? 'vscode.provideIncomingCalls' : 'vscode.provideOutgoingCalls';
  const found = (await ask(call, command, prepared[0])) ?? [];
  const shown = found.map((it) => {
    const item = isIncoming ? it.from : it.to;
    const kind = KINDS[item.kind] ?? 'unknown';
    const sites = (it.fromRanges ?? []).map((range) => ({
      line: range.start.line + 1, character: range.start.character, endLine: range.end.line + 1, endCharacter: range.end.character,
    }));
    const id = given.enrichWithFlowspaceIds ? { nodeId: nodeIdOf(kind, item.uri.fsPath, item.name, call.workspace) } : {};
    const at = item.selectionRange.start;
    return { [isIncoming ? 'caller' : 'callee']: item.name, kind, file: item.uri.fsPath, line: at.line + 1, character: at.character, callSites: sites, ...id };
  });
  return { symbol: symbol.fullName, direction: given.direction, calls: shown, totalCalls: shown.length };
}

function inputOf({ nodeId }, symbol) {
  return nodeId ? { nodeId } : { path: symbol.uri.fsPath, symbol: symbol.fullName };
}
