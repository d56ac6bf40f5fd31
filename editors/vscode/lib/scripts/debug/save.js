// `debug.save-variable`: a value with all its children, page by page, as JSON lines in a file of the workspace.
'use strict';

const fs = require('fs');
const path = require('path');
const { Failure } = require('../../failure');
const { session } = require('./outcome');
const { topFrame, evaluate } = require('./values').shared;

module.exports = {
  'debug.save-variable': {
    params: {
      outputPath: { type: 'path', required: true },
      expression: { type: 'string', required: true },
      pageSize: { type: 'integer', min: 1, max: 10000, default: 500 },
      maxItems: { type: 'integer', min: 1 },
      context: { type: 'string', default: 'watch' },
      sessionId: session,
    },
    run: save,
  },
};

async function save({ outputPath, expression, pageSize, maxItems, context, sessionId }, call) {
  inside(outputPath, call.workspace);
  const tracked = call.sessions.find(sessionId);
  const frameId = await topFrame(call, tracked);
  if (frameId === undefined) throw new Failure('E_NOT_STOPPED', 'the program runs', { details: { sessionId: tracked.id, state: 'running' } });
  const value = await evaluate(call, tracked, expression, frameId, context);
  if (!value.variablesReference) throw new Failure('E_NOT_EXPANDABLE', `\`${expression}\` has nothing inside: ${value.result}`);
  const metadata = {
    adapterType: tracked.type, expression, pageSize, namedVariables: value.namedVariables, indexedVariables: value.indexedVariables,
  };
  const file = fs.openSync(outputPath, 'w', 0o600);
  let bytes = fs.writeSync(file, JSON.stringify({ type: 'metadata', ...metadata, result: value.result }) + '\n');
  const counts = { named: 0, indexed: 0 };
  let isCut = false;
  try {
    for await (const { kind, variable } of all(call, tracked, value, pageSize)) {
      if (maxItems !== undefined && counts.named + counts.indexed >= maxItems) {
        isCut = true;
        break;
      }
      counts[kind] += 1;
      const { name, value: shown, type, evaluateName, variablesReference } = variable;
      bytes += fs.writeSync(file, JSON.stringify({ type: kind, name, value: shown, valueType: type, evaluateName, variablesReference }) + '\n');
    }
  } finally {
    fs.closeSync(file);
  }
  const message = `${counts.named + counts.indexed} children of \`${expression}\` are in the file`;
  return { message, outputPath, bytes, counts, truncatedByLimit: isCut, metadata };
}

// Named ones in one go, indexed ones by pages where the debugger has pages.
async function* all(call, tracked, value, pageSize) {
  const ask = (more) => call.sessions.request(tracked, 'variables', { variablesReference: value.variablesReference, ...more }, call.signal);
  if (!value.indexedVariables) {
    const { variables } = await ask({});
    for (const variable of variables ?? []) yield { kind: /^\d+$/.test(variable.name) ? 'indexed' : 'named', variable };
    return;
  }
  const named = await ask({ filter: 'named' });
  for (const variable of named.variables ?? []) yield { kind: 'named', variable };
  for (let start = 0; start < value.indexedVariables; start += pageSize) {
    const page = await ask({ filter: 'indexed', start, count: Math.min(pageSize, value.indexedVariables - start) });
    const variables = page.variables ?? [];
    for (const variable of variables) yield { kind: 'indexed', variable };
    // It sent everything whatever was asked for, or has no more.
    if (variables.length !== pageSize) return;
  }
}

// Only below the workspace, also behind links.
function inside(file, workspace) {
  let folder;
  try {
    folder = fs.realpathSync(path.dirname(file));
  } catch {
    throw new Failure('E_INVALID_PATH', `no folder \`${path.dirname(file)}\``);
  }
  const from = path.relative(fs.realpathSync(workspace), folder);
  if (from.startsWith('..') || path.isAbsolute(from)) {
    throw new Failure('E_INVALID_PATH', `\`${file}\` is outside of the workspace`, { hint: `write below \`${workspace}\`` });
  }
  const there = fs.lstatSync(file, { throwIfNoEntry: false });
  if (there && !there.isFile()) throw new Failure('E_INVALID_PATH', `\`${file}\` is no plain file`);
}
