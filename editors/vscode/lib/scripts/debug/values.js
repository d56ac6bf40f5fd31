// `debug.evaluate`, `debug.list-variables`, `debug.get-variable`, `debug.set-variable`: values of a program that stands.
'use strict';

const { Failure } = require('../../failure');
const limits = require('../../limits');
const { session, standing } = require('./outcome');

const context = { type: 'enum', values: ['repl', 'watch', 'hover', 'clipboard', 'variables'] };
const reference = { type: 'integer', min: 1 };

module.exports = {
  'debug.evaluate': {
    params: {
      expression: { type: 'string', required: true },
      frameId: { type: 'integer', min: 0 },
      context,
      sessionId: session,
    },
    async run({ expression, frameId, context: purpose, sessionId }, call) {
      const tracked = call.sessions.find(sessionId);
      const frame = frameId ?? (await topFrame(call, tracked));
      const answer = await evaluate(call, tracked, expression, frame, purpose ?? 'repl');
      const { result, type, variablesReference, namedVariables, indexedVariables } = answer;
      return { result, type, variablesReference: variablesReference ?? 0, namedVariables, indexedVariables };
    },
  },

  'debug.get-variable': {
    params: {
      variablesReference: { ...reference, required: true },
      start: { type: 'integer', min: 0, default: 0 },
      count: { type: 'integer', min: 1, max: 10000, default: 100 },
      filter: { type: 'enum', values: ['indexed', 'named', 'all'], default: 'all' },
      sessionId: session,
    },
    async run({ variablesReference, start, count, filter, sessionId }, call) {
      const tracked = call.sessions.find(sessionId);
      const { page, hasMore } = await children(call, tracked, variablesReference, { start, count, filter });
      const metadata = { sessionId: tracked.id, sessionType: tracked.type, variablesReference, filter };
      return { children: page, pagination: { start, count, shown: page.length, hasMore }, metadata };
    },
  },

  'debug.list-variables': {
    params: {
      scope: { type: 'enum', values: ['local', 'closure', 'global', 'all'], default: 'all' },
      maxDepth: { type: 'integer', min: 0, max: 10, default: 3 },
      frameId: { type: 'integer', min: 0 },
      sessionId: session,
    },
    run: list,
  },

  'debug.set-variable': {
    moves: true,
    params: {
      name: { type: 'string', required: true },
      value: { type: 'string', required: true, empty: true },
      variablesReference: reference,
      frameId: { type: 'integer', min: 0 },
      sessionId: session,
    },
    run: assign,
  },
};

// The top frame, in which names are looked up; a program that runs has none. What the person has selected is not
// asked for: right after a stop the editor still names a frame of the one before.
async function topFrame(call, tracked) {
  if (!tracked.isStopped) return undefined;
  const threadId = standing(call, tracked, undefined);
  const { stackFrames } = await call.sessions.request(tracked, 'stackTrace', { threadId, startFrame: 0, levels: 1 }, call.signal);
  return stackFrames?.[0]?.id;
}

async function evaluate(call, tracked, expression, frameId, purpose) {
  try {
    return await call.sessions.request(tracked, 'evaluate', { expression, frameId, context: purpose }, call.signal);
  } catch (error) {
    if (error.code !== 'E_DEBUGGER') throw error;
    throw new Failure('E_EVALUATE_FAILED', error.message.replace(/^evaluate: /, ''), { details: { expression, state: tracked.isStopped ? 'stopped' : 'running' } });
  }
}

// One page; a debugger that does not page sends everything, which is cut here.
async function children(call, tracked, variablesReference, { start, count, filter }) {
  const only = filter === 'all' ? {} : { filter };
  const asked = { variablesReference, ...only, start, count };
  let variables;
  try {
    ({ variables } = await call.sessions.request(tracked, 'variables', asked, call.signal));
  } catch (error) {
    if (error.code !== 'E_DEBUGGER') throw error;
    throw new Failure('E_INVALID_REFERENCE', error.message);
  }
  const all = variables ?? [];
  const isWhole = all.length > count;
  const page = isWhole ? all.slice(start, start + count) : all;
  return { page, hasMore: isWhole ? start + count < all.length : all.length === count, total: isWhole ? all.length : undefined };
}

const SCOPES = { local: /^(local|block)/i, closure: /^closure/i, global: /^(global|module)/i };

async function list({ scope, maxDepth, frameId, sessionId }, call) {
  const tracked = call.sessions.find(sessionId);
  const frame = frameId ?? (await topFrame(call, tracked));
  if (frame === undefined) throw new Failure('E_NOT_STOPPED', 'the program runs', { details: { sessionId: tracked.id, state: 'running' } });
  const { scopes } = await call.sessions.request(tracked, 'scopes', { frameId: frame }, call.signal);
  const isWanted = (it) => scope === 'all' || SCOPES[scope].test(it.name) || (scope === 'local' && it.presentationHint === 'locals');
  const budget = { nodes: limits.TREE_NODES, characters: limits.TREE_CHARACTERS, count: 0, until: Date.now() + limits.TREE_MS };
  const variables = [];
  for (const it of (scopes ?? []).filter(isWanted)) {
    const node = { name: it.name, type: 'scope', variablesReference: it.variablesReference };
    // Everything there is: only where it is asked for.
    if (it.expensive && scope !== 'global') node.expandable = true;
    else await expand(call, tracked, node, maxDepth, budget, new Map());
    node.value = `${node.children?.length ?? 0} variables`;
    variables.push(node);
  }
  const metadata = { sessionId: tracked.id, sessionType: tracked.type, scope, maxDepth, variableCount: budget.count };
  return { variables, metadata };
}

// One level after another's answer, several values at once; a reference that stands above itself is a cycle.
async function expand(call, tracked, node, depth, budget, above) {
  const { page, hasMore } = await children(call, tracked, node.variablesReference, { start: 0, count: limits.CHILDREN, filter: 'all' });
  node.children = [];
  for (const variable of page) {
    if (budget.nodes <= 0 || budget.characters <= 0) {
      Object.assign(node, { childrenTruncated: true, truncated: true, truncatedReason: 'budget' });
      break;
    }
    const { name, value, type, variablesReference, evaluateName, namedVariables, indexedVariables } = variable;
    const child = { name, value, type, variablesReference, evaluateName, namedVariables, indexedVariables };
    budget.nodes -= 1;
    budget.count += 1;
    budget.characters -= JSON.stringify(child).length;
    node.children.push(child);
  }
  Object.assign(node, { childrenShown: node.children.length });
  if (hasMore) Object.assign(node, { childrenTruncated: true, truncatedReason: node.truncatedReason ?? 'maxChildren' });
  const inner = node.children.filter((it) => it.variablesReference);
  for (let at = 0; at < inner.length; at += limits.TREE_ASKED) {
    const some = inner.slice(at, at + limits.TREE_ASKED);
    await Promise.all(some.map((child) => descend(call, tracked, child, depth, budget, above)));
  }
}

// What functions and prototypes have inside is the language's, not the program's.
const isNoise = ({ name, type }) => /^function$/i.test(type ?? '') || /^\[\[.*\]\]$/.test(name) || /^(special|function|class) variables$/.test(name);

async function descend(call, tracked, child, depth, budget, above) {
  const reference = child.variablesReference;
  if (above.has(reference)) {
    Object.assign(child, { cycle: true, cycleVia: 'reference', cycleTarget: above.get(reference) });
  } else if (isNoise(child)) {
    child.expandable = true;
  } else if (depth <= 1) {
    Object.assign(child, { expandable: true, truncated: true, truncatedReason: 'maxDepth' });
  } else if (Date.now() > budget.until) {
    Object.assign(child, { expandable: true, truncated: true, truncatedReason: 'budget' });
  } else {
    try {
      await expand(call, tracked, child, depth - 1, budget, new Map(above).set(reference, child.evaluateName ?? child.name));
    } catch (error) {
      if (call.signal.aborted) throw error;
      child.error = Failure.of(error).message;
    }
  }
}

async function assign({ name, value, variablesReference, frameId, sessionId }, call) {
  const tracked = call.sessions.find(sessionId);
  if (!tracked.isStopped) throw new Failure('E_NOT_STOPPED', 'the program runs', { details: { sessionId: tracked.id, state: 'running' } });
  const frame = frameId ?? (await topFrame(call, tracked));
  const container = variablesReference ?? (await holderOf(call, tracked, frame, name));
  const metadata = { sessionId: tracked.id, sessionType: tracked.type, name };
  const { capabilities } = tracked;
  const request = (command, args) => call.sessions.request(tracked, command, args, call.signal);
  let answer;
  try {
    if (container !== undefined && capabilities.supportsSetVariable) answer = await request('setVariable', { variablesReference: container, name, value });
    else if (capabilities.supportsSetExpression) answer = await request('setExpression', { expression: name, value, frameId: frame });
    else answer = await request('evaluate', { expression: `${name} = ${value}`, frameId: frame, context: 'repl' });
  } catch (error) {
    if (error.code !== 'E_DEBUGGER') throw error;
    throw new Failure('E_MODIFICATION_FAILED', error.message, { details: { name } });
  }
  const { type, variablesReference: inside = 0, namedVariables, indexedVariables } = answer;
  return { value: answer.value ?? answer.result, type, variablesReference: inside, namedVariables, indexedVariables, metadata };
}

// The scope of the frame that has a variable of this name.
async function holderOf(call, tracked, frameId, name) {
  const { scopes } = await call.sessions.request(tracked, 'scopes', { frameId }, call.signal);
  for (const scope of (scopes ?? []).filter((it) => !it.expensive)) {
    const { variables } = await call.sessions.request(tracked, 'variables', { variablesReference: scope.variablesReference }, call.signal);
    if (variables?.some((it) => it.name === name)) return scope.variablesReference;
  }
  return undefined;
}

// For the other scripts of values; it is no script itself.
Object.defineProperty(module.exports, 'shared', { value: { topFrame, evaluate }, enumerable: false });
