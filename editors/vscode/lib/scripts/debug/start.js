// `debug.start`, `debug.stop`, `debug.restart`: sessions come and go.
'use strict';

const { Failure } = require('../../failure');
const limits = require('../../limits');
const { session, patience, comesToRest } = require('./outcome');

module.exports = {
  'debug.start': {
    moves: true,
    params: {
      launch: { type: 'string', required: true },
      folder: { type: 'path' },
      timeoutMs: patience(30000),
      wait: { type: 'boolean', default: false },
      stopOnEntry: { type: 'boolean' },
    },
    run: start,
  },

  'debug.stop': {
    moves: true,
    params: { sessionId: session },
    async run({ sessionId }, call) {
      const root = call.sessions.root(call.sessions.find(sessionId));
      const members = call.sessions.family(root);
      await call.editor.debug.stopDebugging(root.session);
      const ended = await call.sessions.wait(() => (members.every((it) => it.endedAt !== undefined) ? true : undefined), { signal: call.signal, ms: limits.END_MS });
      if (!ended) throw new Failure('E_TIMEOUT', `the session did not end within ${limits.END_MS} ms`, { details: { state: 'ending' } });
      return { status: 'terminated', stoppedCount: members.length, stoppedSessions: members.map((it) => it.id) };
    },
  },

  'debug.restart': {
    moves: true,
    params: { sessionId: session },
    async run({ sessionId }, call) {
      const root = call.sessions.root(call.sessions.find(sessionId));
      if (root.capabilities.supportsRestartRequest) await call.sessions.request(root, 'restart', {}, call.signal);
      else await call.editor.commands.executeCommand('workbench.action.debug.restart', undefined, { sessionId: root.id });
      return { restarted: true, sessionId: root.id };
    },
  },
};

async function start({ launch, folder, timeoutMs, wait, stopOnEntry }, call) {
  const deadline = Date.now() + timeoutMs;
  const { editor, sessions, signal } = call;
  const found = configuration(editor, launch, folder ?? call.workspace);
  const starting = { names: found.names, roots: [] };
  sessions.starting.push(starting);
  try {
    const wanted = found.compound ? launch : { ...found.configuration, ...(stopOnEntry ? { stopOnEntry } : {}) };
    const began = Promise.resolve(editor.debug.startDebugging(found.folder, wanted));
    const root = await firstSession(began, starting, call, deadline - Date.now());
    const answer = introduced(root);
    if (!wait) return answer;
    const rest = await comesToRest(call, root, new Map(), Math.max(1, deadline - Date.now()));
    return { ...answer, ...rest };
  } catch (error) {
    // Nobody waits for it any more: what still comes of it is ended.
    if (starting.roots.length === 0 && signal.aborted) starting.isUnwanted = true;
    throw error;
  } finally {
    if (!starting.isUnwanted) sessions.starting.splice(sessions.starting.indexOf(starting), 1);
  }
}

// The session itself, as soon as it is there; a refusal and a dialog in the editor are told apart.
async function firstSession(began, starting, call, ms) {
  let refused;
  began.then(
    (isThere) => {
      if (!isThere) refused = new Failure('E_LAUNCH_FAILED', 'the editor did not start it', { hint: 'the editor shows why; look at its notifications and the debug console' });
      call.sessions.changed();
    },
    (error) => {
      refused = new Failure('E_LAUNCH_FAILED', Failure.of(error).message);
      call.sessions.changed();
    },
  );
  const { sessions, signal } = call;
  const found = await sessions.wait(() => {
    const id = starting.roots[0];
    const tracked = id && (sessions.all.get(id) ?? sessions.ended.find((it) => it.id === id));
    if (tracked?.isAnnounced) return tracked;
    if (refused) throw refused;
    return undefined;
  }, { signal, ms });
  if (!found) throw new Failure('E_TIMEOUT', `no session within ${ms} ms`, { hint: 'a dialog may be open in the editor', details: { state: 'starting' } });
  return found;
}

function introduced(tracked) {
  return {
    sessionId: tracked.id,
    sessionName: tracked.name,
    adapterType: tracked.type,
    workspaceFolder: tracked.session.workspaceFolder?.uri.fsPath ?? null,
    configuration: tracked.session.configuration,
  };
}

// A configuration or a compound of launch.json, by its name.
function configuration(editor, name, path) {
  const folders = editor.workspace.workspaceFolders ?? [];
  const folder = folders.find((it) => it.uri.fsPath === path) ?? folders[0];
  const launch = editor.workspace.getConfiguration('launch', folder?.uri);
  const configurations = launch.get('configurations') ?? [];
  const compounds = launch.get('compounds') ?? [];
  const known = [...configurations, ...compounds].map((it) => it.name);
  const one = configurations.find((it) => it.name === name);
  if (one) {
    checkType(editor, one.type);
    return { folder, configuration: { ...one }, names: new Set([name]) };
  }
  const several = compounds.find((it) => it.name === name);
  if (several) {
    const names = several.configurations.map((it) => (typeof it === 'string' ? it : it.name));
    return { folder, compound: true, names: new Set(names) };
  }
  const hint = known.length > 0 ? `there are ${known.map((it) => `\`${it}\``).join(', ')}` : 'launch.json has none; add one';
  throw new Failure('E_NOT_FOUND', `no launch configuration \`${name}\``, { hint, details: { configurations: known } });
}

// The editor would show a dialog about it and wait for a click.
function checkType(editor, type) {
  const contributed = editor.extensions.all.flatMap((it) => it.packageJSON?.contributes?.debuggers ?? []).map((it) => it.type);
  if (contributed.includes(type)) return;
  throw new Failure('E_LAUNCH_FAILED', `no extension here debugs \`${type}\``, { hint: 'install the extension for it', details: { types: [...new Set(contributed)] } });
}
