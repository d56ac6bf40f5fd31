// Symbols of a file, as its language server knows them, and the one that a script means. No script itself.
'use strict';

const fs = require('fs');
const path = require('path');
const { Failure } = require('../failure');
const limits = require('../limits');

const KINDS = [
  'file', 'module', 'namespace', 'package', 'class', 'method', 'property', 'field', 'constructor', 'enum', 'interface', 'function',
  'variable', 'constant', 'string', 'number', 'boolean', 'array', 'object', 'key', 'null', 'enumMember', 'struct', 'event', 'operator',
  'typeParameter',
];

// By which a script names one: an id `kind:path:name`, or a path and a name such as `Class.method`.
const target = { nodeId: { type: 'string' }, path: { type: 'path' }, symbol: { type: 'string' } };

// Asks a language server, within its time and the job's.
async function ask(call, command, ...args) {
  const { editor, signal } = call;
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Failure('E_LSP_TIMEOUT', `the language server did not answer within ${limits.SYMBOLS_MS} ms`)), limits.SYMBOLS_MS);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  try {
    return await Promise.race([editor.commands.executeCommand(command, ...args), late]);
  } finally {
    clearTimeout(timer);
  }
}

// Every symbol of a file, flat, with what it stands in.
async function symbolsOf(call, uri) {
  const found = (await ask(call, 'vscode.executeDocumentSymbolProvider', uri)) ?? [];
  return flat(found, []);
}

function flat(symbols, above) {
  return symbols.flatMap((it) => {
    const range = it.range ?? it.location.range;
    const at = it.selectionRange ?? range;
    const names = it.range || !it.containerName ? [...above, it.name] : [it.containerName, it.name];
    const own = { name: it.name, kind: KINDS[it.kind] ?? 'unknown', container: names.slice(0, -1).join('.') || undefined, fullName: names.join('.'), range, at: at.start };
    return [own, ...flat(it.children ?? [], names)];
  });
}

// The symbols around a position, from the outside in.
function pathTo(symbols, position) {
  const around = symbols.filter((it) => it.range.contains(position));
  return around.map((it) => ({ name: it.name, kind: it.kind, startLine: it.range.start.line + 1, endLine: it.range.end.line + 1 }));
}

async function theSymbol({ nodeId, path: file, symbol }, call) {
  const meant = nodeId === undefined ? { file, symbol } : parse(nodeId, call.workspace);
  if (nodeId !== undefined && (file !== undefined || symbol !== undefined)) {
    throw new Failure('E_INVALID_PARAMS', 'either `nodeId`, or `path` and `symbol`');
  }
  if (!meant.file || !meant.symbol) throw new Failure('E_INVALID_PARAMS', '`nodeId`, or `path` and `symbol`, must say which');
  if (!fs.existsSync(meant.file)) throw new Failure('E_FILE_NOT_FOUND', `no file \`${meant.file}\``);
  const uri = call.editor.Uri.file(meant.file);
  await call.editor.workspace.openTextDocument(uri);
  const symbols = await symbolsOf(call, uri);
  if (symbols.length === 0) throw new Failure('E_NO_LANGUAGE_SERVER', `nobody here knows symbols of \`${meant.file}\``);
  const found = symbols.filter((it) => it.fullName === meant.symbol);
  const named = found.length > 0 ? found : symbols.filter((it) => it.name === meant.symbol || it.fullName.endsWith(`.${meant.symbol}`));
  if (named.length === 1) return { uri, ...named[0] };
  const candidates = (named.length > 0 ? named : symbols).slice(0, 20).map((it) => `${it.fullName}:${it.at.line + 1}`);
  if (named.length === 0) throw new Failure('E_NOT_FOUND', `no symbol \`${meant.symbol}\` in \`${meant.file}\``, { details: { candidates } });
  throw new Failure('E_AMBIGUOUS_SYMBOL', `\`${meant.symbol}\` is ${named.length} symbols`, { hint: 'say it with what it stands in, as `Class.method`', details: { candidates } });
}

function parse(nodeId, workspace) {
  const parts = /^[a-z-]+:(.+):([^:]+)$/i.exec(nodeId);
  if (!parts) throw new Failure('E_INVALID_PARAMS', `\`${nodeId}\` is no \`kind:path:name\``);
  return { file: path.resolve(workspace, parts[1]), symbol: parts[2] };
}

function nodeIdOf(kind, file, name, workspace) {
  return `${kind}:${path.relative(workspace, file).split(path.sep).join('/')}:${name}`;
}

module.exports = { KINDS, target, ask, symbolsOf, pathTo, theSymbol, nodeIdOf };
