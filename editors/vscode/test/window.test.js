'use strict';

// A whole window against debuggers that are played: what they say becomes events, what scripts ask becomes requests.

const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { test } = require('node:test');
const { SCRIPTS, runScript } = require('../lib/scripts');
const { Window } = require('../lib/window');
const { FakeSession, fakeEditor, scratch, until } = require('./fake');

const FRAME = { id: 7, name: 'main', line: 3, column: 1, source: { path: 'vscode-remote://h:1/w/app.js' } };

const ANSWERS = {
  threads: () => ({ threads: [{ id: 0, name: 'main' }] }),
  stackTrace: () => ({ stackFrames: [FRAME], totalFrames: 1 }),
  scopes: () => ({ scopes: [{ name: 'Local: main', variablesReference: 1, expensive: false }] }),
  continue: () => ({ allThreadsContinued: true }),
  next: () => ({}),
};

function site(t) {
  const workspace = scratch();
  fs.writeFileSync(path.join(workspace, 'app.js'), 'one\ntwo\nthree\n');
  const editor = fakeEditor(workspace);
  const window = new Window(editor, '0.1.0');
  t.after(() => window.dispose());
  const bridge = window.bridges.get(workspace);
  const events = () => fs.readFileSync(path.join(bridge.folder, 'events.ndjson'), 'utf8').trim().split('\n').map((it) => JSON.parse(it));
  const seen = (name) => events().filter((it) => it.event === name);
  const run = (name, params, abort = new AbortController()) =>
    runScript(name, params, window.callIn(workspace, { signal: abort.signal, progress: () => {}, envelope: {} }));
  const session = (more) => new FakeSession(editor, { id: 's1', answers: { ...ANSWERS }, ...more });
  return { workspace, editor, window, bridge, events, seen, run, session, app: path.join(workspace, 'app.js') };
}

async function stopped(site, session, body = {}) {
  const before = site.seen('stopped').length;
  session.say('stopped', { reason: 'breakpoint', threadId: 0, allThreadsStopped: true, ...body });
  return until(() => site.seen('stopped')[before], 'a stop');
}

const PUBLIC = `breakpoint.clear.file breakpoint.clear.project breakpoint.list breakpoint.remove breakpoint.set code.replace-method
dap.compare dap.exceptions dap.filter dap.logs dap.search dap.stats dap.summary dap.timeline debug.continue debug.evaluate
debug.get-variable debug.list-variables debug.restart debug.save-variable debug.scopes debug.set-variable debug.stack debug.start
debug.status debug.step-into debug.step-out debug.step-over debug.stop debug.threads debug.tracker debug.wait-for-hit
diagnostic.collect editor.get-context editor.goto-line editor.show-testing-ui search.symbol-search symbol.calls symbol.navigate
symbol.rename test.debug-single util.restart-vscode`.split(/\s+/);

test('every script of the public catalogue is there, and no code is taken', async (t) => {
  assert.equal(PUBLIC.length, 42);
  for (const name of PUBLIC) assert.ok(SCRIPTS.has(name), name);
  const { run } = site(t);
  await assert.rejects(run('@dynamic', {}), { code: 'E_SCRIPT_NOT_FOUND' });
  await assert.rejects(run('debug.stepover', {}), (error) => error.details.known.includes('debug.step-over'));
});

test('a stop is told with its place, and thread 0 is a thread', async (t) => {
  const it = site(t);
  const session = it.session().start();
  const stop = await stopped(it, session, { text: 'here' });
  const { seq, bridgeId, ts, ...told } = stop;
  assert.deepEqual(told, {
    event: 'stopped', sessionId: 's1', reason: 'breakpoint', threadId: 0, allThreadsStopped: true,
    file: '/w/app.js', line: 3, column: 1, functionName: 'main', frameId: 7, text: 'here',
  });
  assert.deepEqual(it.seen('session-started').map((one) => [one.sessionId, one.startedBy]), [['s1', 'person']]);
  assert.deepEqual((await it.run('debug.threads', {})).threads, [{ id: 0, name: 'main', stopped: true }]);
  assert.equal((await it.run('debug.stack', {})).frames[0].source.path, '/w/app.js');
});

test('a debugger that is slow to say where does not hold up the stop', async (t) => {
  const it = site(t);
  let say;
  const session = it.session({ answers: { ...ANSWERS, stackTrace: () => new Promise((resolve) => (say = resolve)) } }).start();
  const at = Date.now();
  const stop = await stopped(it, session);
  assert.ok(Date.now() - at < 2000);
  assert.equal(stop.file, null);
  say({ stackFrames: [FRAME] });
  const located = await until(() => it.seen('located')[0], 'the place');
  assert.deepEqual([located.file, located.line, located.threadId], ['/w/app.js', 3, 0]);
});

test('a wait goes on where the last one ended: a stop between the two is not lost', async (t) => {
  const it = site(t);
  const session = it.session().start();
  await stopped(it, session);
  const late = await it.run('debug.wait-for-hit', { timeoutMs: 20 }).catch((error) => error);
  assert.deepEqual([late.code, late.details.again], ['E_TIMEOUT', { afterStop: 1 }]);
  await stopped(it, session, { reason: 'step' });
  const hit = await it.run('debug.wait-for-hit', { timeoutMs: 20, ...late.details.again });
  assert.deepEqual([hit.event, hit.reason], ['breakpoint-hit', 'step']);
  session.end();
  await until(() => it.seen('session-ended').length === 1, 'its end');
  await assert.rejects(it.run('debug.wait-for-hit', { afterStop: 2 }), { code: 'E_SESSION_TERMINATED' });
  await assert.rejects(it.run('debug.wait-for-hit', {}), { code: 'E_NO_SESSION' });
});

test('a step answers with the stop that follows it, not with one of before', async (t) => {
  const it = site(t);
  const session = it.session().start();
  await stopped(it, session);
  const stepped = it.run('debug.step-over', {});
  await until(() => session.asked.some(([command]) => command === 'next'), 'the step');
  await until(() => it.seen('continued').length === 1, 'that it goes on');
  session.say('stopped', { reason: 'step', threadId: 0 });
  const { event, reason, threadId, line } = await stepped;
  assert.deepEqual([event, reason, threadId, line], ['stopped', 'step', 0, 3]);
  const last = it.events().at(-1);
  assert.deepEqual([last.event, last.reason], ['stopped', 'step'], 'it is in the file before the answer');
  assert.equal(it.window.control.holder, 'agent', 'our own step is no person');
});

test('a stop that is told before its step is answered counts', async (t) => {
  const it = site(t);
  const session = it.session().start();
  await stopped(it, session);
  session.answers.next = () => {
    session.say('stopped', { reason: 'step', threadId: 0 });
    return new Promise((resolve) => setTimeout(() => resolve({}), 20));
  };
  assert.equal((await it.run('debug.step-over', {})).event, 'stopped');
  await until(() => it.seen('stopped').length === 2, 'both stops');
  assert.deepEqual(it.events().slice(-2).map((one) => one.event), ['continued', 'stopped']);
  assert.equal((await it.run('debug.sessions', {})).sessions[0].state, 'stopped');
});

test('what does not stop in time is said to run; a cancel ends the wait', async (t) => {
  const it = site(t);
  const session = it.session().start();
  await stopped(it, session);
  const late = await it.run('debug.continue', { timeoutMs: 30 });
  assert.deepEqual([late.event, late.code, late.detail.state], ['error', 'E_NOT_STOPPED', 'running']);
  const abort = new AbortController();
  const waiting = it.run('debug.wait-for-hit', {}, abort);
  abort.abort(Object.assign(new Error('enough'), { code: 'E_CANCELLED' }));
  await assert.rejects(waiting, { code: 'E_CANCELLED' });
  assert.equal(it.window.sessions.listeners.size, 0, 'nobody listens any more');
  await assert.rejects(it.run('debug.wait-for-hit', { timeoutMs: 20 }), { code: 'E_TIMEOUT' });
  await assert.rejects(it.run('debug.step-over', {}), { code: 'E_NOT_STOPPED' });
  const moved = await it.run('debug.continue', { timeoutMs: 30 }).catch((error) => error);
  assert.equal(moved.code, 'E_NOT_STOPPED');
});

test('the end of a program answers who waits for it, with its exit code', async (t) => {
  const it = site(t);
  const session = it.session().start();
  await stopped(it, session);
  const running = it.run('debug.continue', {});
  session.say('output', { category: 'stdout', output: 'bye\n' });
  session.say('exited', { exitCode: 3 });
  session.end();
  assert.deepEqual(await running, { event: 'terminated', sessionId: 's1', exitCode: 3 });
  assert.deepEqual(it.seen('session-ended').map((one) => one.exitCode), [3]);
  assert.deepEqual(it.seen('output').map((one) => one.text), ['bye\n']);
  await assert.rejects(it.run('debug.stack', {}), { code: 'E_NO_SESSION' });
  await assert.rejects(it.run('debug.stack', { sessionId: 's1' }), { code: 'E_NO_SESSION' });
  assert.equal((await it.run('dap.logs', {})).logs[0].text, 'bye\n');
  assert.equal((await it.run('dap.summary', {})).health.abnormalExit, true);
});

test("a root without threads speaks by its child, and a session's id is honoured", async (t) => {
  const it = site(t);
  const root = it.session({ id: 'root', answers: {} }).start();
  const child = it.session({ id: 'child', parent: root }).start();
  const other = it.session({ id: 'other' }).start();
  child.say('thread', { reason: 'started', threadId: 0 });
  await stopped(it, child);
  await stopped(it, other);
  it.editor.debug.activeDebugSession = other;
  assert.equal((await it.run('debug.stack', {})).sessionId, 'other');
  assert.equal((await it.run('debug.stack', { sessionId: 'root' })).sessionId, 'child');
  assert.equal((await it.run('debug.stack', { sessionId: 'child' })).sessionId, 'child');
  const ended = await it.run('debug.stop', { sessionId: 'other' });
  assert.deepEqual(ended.stoppedSessions, ['other']);
});

test('a person who steps takes over; agents may look but not move until it is handed back', async (t) => {
  const it = site(t);
  const session = it.session().start();
  await stopped(it, session);
  await session.press('next', { threadId: 0 });
  await until(() => it.seen('control').at(-1).holder === 'person', 'the person holds it');
  session.say('stopped', { reason: 'step', threadId: 0 });
  await until(() => it.seen('stopped').length === 2, 'their stop');
  assert.match(it.editor.item.text, /you drive/);
  for (const name of ['debug.continue', 'debug.step-over', 'debug.pause', 'debug.stop', 'debug.restart']) {
    await assert.rejects(it.run(name, {}), { code: 'E_HUMAN_IN_CONTROL' }, name);
  }
  assert.equal((await it.run('debug.stack', {})).totalFrames, 1);
  assert.equal((await it.run('debug.step-over', { by: 'person', wait: false })).event, 'running', 'by their other page');
  session.say('stopped', { reason: 'step', threadId: 0 });
  await until(() => it.seen('stopped').length === 3, 'their next stop');
  it.editor.commands.registered.get('holdpoint.toggleControl')();
  assert.equal(it.seen('control').at(-1).holder, 'agent');
  assert.match(it.editor.item.text, /agents drive/);
  assert.equal((await it.run('debug.continue', { wait: false })).event, 'running');
  await it.run('control.set', { holder: 'person' });
  session.end();
  await until(() => it.seen('control').at(-1).holder === 'agent', 'the next program begins with agents');
});

test('a breakpoint is set once, with what the debugger made of it', async (t) => {
  const it = site(t);
  const first = await it.run('breakpoint.set', { path: it.app, line: 2 });
  assert.deepEqual([first.breakpoint.verified, first.breakpoint.path, first.breakpoint.line], [null, it.app, 2]);
  const same = await it.run('breakpoint.set', { path: 'app.js', line: 2 });
  assert.equal(same.breakpoint.id, first.breakpoint.id);
  const other = await it.run('breakpoint.set', { path: it.app, line: 2, condition: 'x > 1' });
  assert.notEqual(other.breakpoint.id, first.breakpoint.id);
  assert.equal((await it.run('breakpoint.list', {})).total, 1);
  const session = it.session().start();
  session.bound.set(other.breakpoint.id, { id: 41, verified: true, line: 3 });
  const [listed] = (await it.run('breakpoint.list', {})).breakpoints;
  assert.deepEqual([listed.line, listed.verified, listed.boundLine, listed.condition], [2, true, 3, 'x > 1']);
  session.say('breakpoint', { reason: 'changed' });
  const bound = await until(() => it.seen('breakpoints').flatMap((one) => one.changed).find((one) => one.verified), 'the event');
  assert.equal(bound.boundLine, 3);
  session.answers.setBreakpoints = () => ({ breakpoints: [{ id: 41, verified: true, line: 3 }] });
  await session.customRequest('setBreakpoints', { source: { path: it.app }, breakpoints: [{ line: 2 }] });
  const stop = await stopped(it, session, { hitBreakpointIds: [41] });
  assert.deepEqual(stop.hitBreakpointIds, [other.breakpoint.id]);
  await assert.rejects(it.run('breakpoint.set', { path: it.app, line: 99 }), { code: 'E_INVALID_LINE' });
  await assert.rejects(it.run('breakpoint.set', { path: '/no/such.js', line: 1 }), { code: 'E_FILE_NOT_FOUND' });
  await assert.rejects(it.run('breakpoint.remove', { path: it.app, line: 1 }), { code: 'E_NOT_FOUND' });
  assert.deepEqual(await it.run('breakpoint.remove', { path: it.app, line: 2 }), { path: it.app, line: 2, removed: 1 });
  await until(() => it.seen('breakpoints').at(-1).changed[0].removed, 'that it is gone');
});

test('a start says whose it is, and why there is none', async (t) => {
  const it = site(t);
  it.editor.launch.configurations = [{ name: 'app', type: 'fake' }, { name: 'odd', type: 'unknown' }];
  it.editor.debug.startDebugging = async (_, configuration) => {
    const session = it.session({ configuration }).start();
    setTimeout(() => session.say('stopped', { reason: 'entry', threadId: 0 }), 5);
    return true;
  };
  const started = await it.run('debug.start', { launch: 'app', wait: true, stopOnEntry: true });
  assert.deepEqual([started.sessionId, started.event, started.reason, started.configuration.stopOnEntry], ['s1', 'stopped', 'entry', true]);
  assert.equal(it.seen('session-started')[0].startedBy, 'agent');
  await assert.rejects(it.run('debug.start', { launch: 'nap' }), (error) => error.code === 'E_NOT_FOUND' && error.details.configurations.includes('app'));
  await assert.rejects(it.run('debug.start', { launch: 'odd' }), { code: 'E_LAUNCH_FAILED' });
  it.editor.debug.startDebugging = async () => false;
  await assert.rejects(it.run('debug.start', { launch: 'app' }), { code: 'E_LAUNCH_FAILED' });
  it.editor.debug.startDebugging = () => new Promise(() => {});
  await assert.rejects(it.run('debug.start', { launch: 'app', timeoutMs: 20 }), { code: 'E_TIMEOUT' });
  assert.equal(it.window.sessions.starting.length, 0);
});

test('a start that was cancelled leaves no program behind', async (t) => {
  const it = site(t);
  it.editor.launch.configurations = [{ name: 'app', type: 'fake' }];
  let session;
  it.editor.debug.startDebugging = () => new Promise((resolve) => setTimeout(() => {
    session = it.session({ configuration: { name: 'app' } });
    session.end = () => (session.isEnded = true);
    session.start();
    resolve(true);
  }, 30));
  const abort = new AbortController();
  const starting = it.run('debug.start', { launch: 'app' }, abort);
  abort.abort(Object.assign(new Error('enough'), { code: 'E_CANCELLED' }));
  await assert.rejects(starting, { code: 'E_CANCELLED' });
  await until(() => session?.isEnded, 'its end');
});

test('values: trees end at cycles and depths, a refused expression keeps the reason', async (t) => {
  const it = site(t);
  const variables = ({ variablesReference }) => ({
    1: { variables: [{ name: 'a', value: '1', variablesReference: 0 }, { name: 'self', value: 'X', variablesReference: 5 }] },
    5: { variables: [{ name: 'me', value: 'X', variablesReference: 5 }, { name: 'f', type: 'function', value: 'f', variablesReference: 9 }] },
  })[variablesReference];
  const session = it.session({
    answers: {
      ...ANSWERS,
      variables,
      evaluate: ({ expression, frameId }) => {
        if (expression === 'nope') throw new Error('nope is not defined');
        return { result: `${expression}@${frameId}`, type: 'string' };
      },
    },
  }).start();
  await stopped(it, session);
  const tree = await it.run('debug.list-variables', { scope: 'local' });
  const [scope] = tree.variables;
  assert.deepEqual([scope.name, scope.value, tree.metadata.variableCount], ['Local: main', '2 variables', 4]);
  assert.deepEqual(scope.children[1].children.map((one) => [one.name, one.cycle === true]), [['me', true], ['f', false]]);
  it.editor.debug.activeStackItem = { session, threadId: 0, frameId: 3 };
  assert.equal((await it.run('debug.evaluate', { expression: 'x' })).result, 'x@7', 'not in a frame of the stop before');
  await assert.rejects(it.run('debug.evaluate', { expression: 'nope' }), { code: 'E_EVALUATE_FAILED', message: 'nope is not defined' });
  const page = await it.run('debug.get-variable', { variablesReference: 1, count: 1 });
  assert.deepEqual([page.children.length, page.pagination.hasMore], [1, true]);
  await assert.rejects(it.run('debug.save-variable', { outputPath: '/tmp/out.jsonl', expression: 'x' }), { code: 'E_INVALID_PATH' });
});

test('a debugger that lets threads go one by one is told so for each', async (t) => {
  const it = site(t);
  const session = it.session({ answers: { ...ANSWERS, continue: () => ({ allThreadsContinued: false }) } }).start();
  await stopped(it, session, { threadId: 1, allThreadsStopped: false });
  await stopped(it, session, { threadId: 2, allThreadsStopped: false });
  await it.run('debug.continue', { wait: false });
  const told = session.asked.filter(([command]) => command === 'continue').map(([, args]) => args.threadId);
  assert.deepEqual(told.sort(), [1, 2]);
  await until(() => it.seen('continued').length === 2, 'that both go on');
});

test('a breakpoint is gone when the debugger took it out, not before', async (t) => {
  const it = site(t);
  const session = it.session({ answers: { ...ANSWERS, setBreakpoints: () => ({ breakpoints: [] }) } }).start();
  await session.customRequest('setBreakpoints', {});
  let isTaken = false;
  it.editor.changedBreakpoints.event(({ removed }) => {
    if (removed.length === 0) return session.customRequest('setBreakpoints', {});
    setTimeout(() => {
      isTaken = true;
      session.customRequest('setBreakpoints', {});
    }, 50);
  });
  await it.run('breakpoint.set', { path: it.app, line: 1 });
  await it.run('breakpoint.clear.project', {});
  assert.ok(isTaken);
});

test('a pause is called a pause', async (t) => {
  const it = site(t);
  const session = it.session({ answers: { ...ANSWERS, pause: () => ({}) } }).start();
  assert.deepEqual(await it.run('debug.pause', {}), { paused: true, sessionId: 's1' });
  assert.equal((await stopped(it, session, { reason: 'step' })).reason, 'pause');
  assert.equal((await stopped(it, session, { reason: 'step' })).reason, 'step');
  assert.equal(it.window.control.holder, 'agent');
});
