// A real VS Code, driven through the bridge as an agent's server does it, and by keys as a person does.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { Bridge, until } from './bridge.mjs';
import { Editor, START_MS } from './editor.mjs';

// What an editor under load may take for one thing.
const PATIENCE_MS = 90000;

// The goal for a stop: from the program's being there to an agent's reading it.
const STOP_MS = 300;

// The goal for a simple job, from the command's being there to the answer's.
const ROUND_TRIP_MS = 50;

const editor = new Editor();
const bridge = new Bridge(editor.workspace);
const file = (name) => path.join(editor.workspace, name);
const figures = {};

before(async () => {
  try {
    await editor.open();
    await editor.timed('bridge serves', () => bridge.ready(START_MS));
  } catch (error) {
    await editor.close();
    throw error;
  }
}, { timeout: 4 * START_MS });

after(async () => {
  await editor.close();
  console.log(`took (ms): ${JSON.stringify(editor.times)}`);
  console.log(`measured (ms): ${JSON.stringify(figures)}`);
}, { timeout: START_MS });

const timed = { timeout: 4 * PATIENCE_MS };
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const start = (launch) => editor.timed(`start ${launch} to its stop`, () => bridge.run('debug.start', { launch, wait: true, timeoutMs: PATIENCE_MS }, { timeout: PATIENCE_MS }));

// A job that must fail, with its code.
async function refused(code, script, params, more) {
  const error = await bridge.run(script, params, more).then(() => assert.fail(`${script} was not refused`), (it) => it);
  assert.equal(error.code, code, error.message);
  assert.equal(error.stack.includes('extension/lib'), false, 'no stack of ours');
  return error;
}

// Each test begins with nothing, also after one that failed.
async function stopAll() {
  await bridge.run('control.set', { holder: 'agent' });
  const { sessions } = await bridge.run('debug.sessions');
  for (const it of sessions.filter((one) => !one.parentId)) await bridge.run('debug.stop', { sessionId: it.id }, { timeout: PATIENCE_MS });
  await bridge.run('breakpoint.clear.project');
}

afterEach(async () => {
  if (bridge.host()) await stopAll();
}, timed);

test('the bridge says who it is', timed, async () => {
  const host = bridge.host();
  assert.equal(host.workspace, editor.workspace);
  assert.equal(host.holdpoint.protocol, 1);
  for (const it of ['typed-errors', 'cancel', 'events', 'breakpoint-truth', 'control', 'exceptions']) assert.ok(host.holdpoint.capabilities.includes(it), it);
  for (const name of ['host.json', 'host.lock', 'events.ndjson']) assert.equal(fs.statSync(path.join(bridge.folder, name)).mode & 0o777, 0o600);
  assert.equal(fs.statSync(bridge.folder).mode & 0o777, 0o700);
  await editor.page.getByText('Holdpoint: agents drive').waitFor({ timeout: PATIENCE_MS });
});

test('mistakes are refused with their code, and many of them change nothing', timed, async () => {
  for (let turn = 0; turn < 15; turn += 1) await refused('E_NO_SESSION', 'debug.stack');
  await refused('E_INVALID_PARAMS', 'breakpoint.set', { path: file('app.js'), line: 1.5 });
  await refused('E_SCRIPT_NOT_FOUND', '@dynamic', {});
  const unknown = await refused('E_NOT_FOUND', 'debug.start', { launch: 'no such' });
  assert.deepEqual(unknown.details.configurations, ['js', 'py', 'slow', 'stamp', 'nobody']);
  await refused('E_LAUNCH_FAILED', 'debug.start', { launch: 'nobody' });
});

test('JavaScript: breakpoint, stop, stack, values, step, end', timed, async () => {
  const set = await bridge.run('breakpoint.set', { path: 'app.js', line: 3 });
  assert.deepEqual([set.breakpoint.path, set.breakpoint.line, set.breakpoint.verified], [file('app.js'), 3, null]);
  const again = await bridge.run('breakpoint.set', { path: file('app.js'), line: 3 });
  assert.equal(again.breakpoint.id, set.breakpoint.id);
  const since = bridge.seq();
  const stop = await start('js');
  assert.deepEqual([stop.event, stop.reason, stop.file, stop.line, stop.threadId], ['stopped', 'breakpoint', file('app.js'), 3, 0]);
  assert.deepEqual(stop.hitBreakpointIds, [set.breakpoint.id]);
  assert.ok(bridge.events().some((it) => it.seq > since && it.event === 'stopped'), 'the stop is in the file before the answer');
  const { sessions } = await bridge.run('debug.sessions');
  const [root, child] = [sessions.find((it) => !it.parentId), sessions.find((it) => it.parentId)];
  assert.deepEqual([root.startedBy, child.startedBy, child.state, child.threadId], ['agent', 'agent', 'stopped', 0]);

  const stack = await bridge.run('debug.stack', { sessionId: root.id });
  assert.deepEqual([stack.sessionId, stack.frames[0].line, stack.frames[0].source.path], [child.id, 3, file('app.js')]);
  assert.match(stack.frames[0].name, /add/);
  const { threads } = await bridge.run('debug.threads');
  assert.deepEqual([threads[0].id, threads[0].stopped], [0, true]);
  const { scopes } = await bridge.run('debug.scopes', { frameId: stack.frames[0].id });
  const local = await bridge.run('debug.get-variable', { variablesReference: scopes[0].variablesReference });
  assert.equal(local.children.find((it) => it.name === 'right').value, '1');
  const tree = await bridge.run('debug.list-variables', { scope: 'local', maxDepth: 1 });
  assert.ok(tree.variables[0].children.some((it) => it.name === 'right' && it.value === '1'), 'a scope that is called `Local: add`');
  assert.equal((await bridge.run('debug.evaluate', { expression: 'left + right + 41' })).result, '42');
  await refused('E_EVALUATE_FAILED', 'debug.evaluate', { expression: 'noSuchName' });
  await bridge.run('debug.set-variable', { name: 'right', value: '100' });
  assert.equal((await bridge.run('debug.evaluate', { expression: 'right' })).result, '100');
  const [bound] = (await bridge.run('breakpoint.list')).breakpoints;
  assert.deepEqual([bound.verified, bound.boundLine], [true, 3]);

  const over = await bridge.run('debug.step-over', { timeoutMs: PATIENCE_MS }, { timeout: PATIENCE_MS });
  assert.deepEqual([over.event, over.reason, over.line], ['stopped', 'step', 4]);
  assert.equal((await bridge.run('debug.evaluate', { expression: 'sum' })).result, '100');
  const step = await bridge.run('debug.step-out', { timeoutMs: PATIENCE_MS }, { timeout: PATIENCE_MS });
  assert.deepEqual([step.event, step.reason, step.file], ['stopped', 'step', file('app.js')]);
  assert.ok(step.line === 8 || step.line === 9, 'back in the loop');
  await bridge.run('breakpoint.clear.project');
  const end = await bridge.run('debug.continue', { timeoutMs: PATIENCE_MS }, { timeout: PATIENCE_MS });
  assert.equal(end.event, 'terminated');
  await bridge.event(since, (it) => it.event === 'session-ended' && it.sessionId === root.id, PATIENCE_MS, 'of the end');
  const said = bridge.events().filter((it) => it.seq > since && it.event === 'output').map((it) => it.text);
  assert.ok(said.some((it) => it.includes('total 114')), `the changed sum went on: ${JSON.stringify(said)}`);
});

test('Python: breakpoint that moves, condition, logpoint, values, step, exception, exit code', timed, async () => {
  await bridge.run('breakpoint.set', { path: file('app.py'), line: 5, condition: 'right == 3' });
  await bridge.run('breakpoint.set', { path: file('app.py'), line: 6, logMessage: 'turn {right}' });
  const since = bridge.seq();
  const stop = await start('py');
  assert.deepEqual([stop.event, stop.reason, stop.file, stop.line, stop.functionName], ['stopped', 'breakpoint', file('app.py'), 5, 'add']);
  assert.equal((await bridge.run('debug.evaluate', { expression: 'right * 2' })).result, '6');
  const step = await bridge.run('debug.step-over', { timeoutMs: PATIENCE_MS }, { timeout: PATIENCE_MS });
  assert.deepEqual([step.event, step.reason, step.line], ['stopped', 'step', 6]);
  const told = bridge.events().filter((it) => it.seq > since && it.event === 'output' && it.text.startsWith('turn'));
  // The line that the step arrives at may be told already.
  assert.deepEqual(told.map((it) => it.text.trim()).slice(0, 2), ['turn 1', 'turn 2']);
  const moved = await bridge.run('breakpoint.set', { path: file('app.py'), line: 7 });
  assert.equal(moved.breakpoint.verified, true, JSON.stringify(moved));
  assert.notEqual(moved.breakpoint.boundLine, undefined);
  await bridge.run('debug.set-exceptions', { filters: ['raised'] });
  await refused('E_INVALID_PARAMS', 'debug.set-exceptions', { filters: ['no-such'] });
  const saved = await bridge.run('debug.save-variable', { expression: '{"a": 1, "b": [1, 2]}', outputPath: 'saved.jsonl' });
  assert.ok(saved.counts.named + saved.counts.indexed >= 2);
  assert.equal(JSON.parse(fs.readFileSync(file('saved.jsonl'), 'utf8').split('\n')[0]).type, 'metadata');
  await bridge.run('breakpoint.clear.project');
  const end = await bridge.run('debug.continue', { timeoutMs: PATIENCE_MS }, { timeout: PATIENCE_MS });
  assert.deepEqual([end.event, end.exitCode], ['terminated', 0]);
  const logs = await bridge.run('dap.logs', { search: 'total' });
  assert.equal(logs.logs[0].text.trim(), 'total 15');
});

test('a wait that is cancelled ends, and the program can be paused and stopped', timed, async () => {
  const started = await bridge.run('debug.start', { launch: 'slow' }, { timeout: PATIENCE_MS });
  assert.equal(started.sessionName, 'slow');
  await until(async () => (await bridge.run('debug.sessions')).sessions.length === 2, PATIENCE_MS, 'the program runs');
  const at = performance.now();
  await refused('E_CANCELLED', 'debug.wait-for-hit', { timeoutMs: PATIENCE_MS }, { cancelAfter: 100 });
  figures['cancel, with the 100 ms before it'] = Math.round(performance.now() - at);
  assert.ok(figures['cancel, with the 100 ms before it'] < 2000);
  const late = await refused('E_TIMEOUT', 'debug.wait-for-hit', { timeoutMs: 200 });
  assert.equal(late.details.state, 'running');
  const since = bridge.seq();
  await bridge.run('debug.pause', { sessionId: started.sessionId }, { timeout: PATIENCE_MS });
  const paused = await bridge.event(since, (it) => it.event === 'stopped', PATIENCE_MS, 'of the pause');
  assert.equal(paused.reason, 'pause');
  await refused('E_CANCELLED', 'debug.continue', { timeoutMs: PATIENCE_MS }, { cancelAfter: 200 });
  const isRunning = async () => (await bridge.run('debug.sessions')).sessions.every((it) => it.state === 'running');
  await until(isRunning, PATIENCE_MS, 'it goes on; only the wait ended');
  await refused('E_NOT_STOPPED', 'debug.step-over');
  await stopAll();
  assert.deepEqual((await bridge.run('debug.sessions')).sessions, []);
});

test('what the person starts and steps is seen at once, and takes control', timed, async () => {
  await bridge.run('breakpoint.set', { path: file('app.js'), line: 8 });
  let since = bridge.seq();
  await editor.page.locator('.monaco-workbench').click({ position: { x: 700, y: 450 } });
  await editor.page.keyboard.press('F5');
  const began = await bridge.event(since, (it) => it.event === 'session-started', PATIENCE_MS, 'of the start');
  assert.deepEqual([began.startedBy, began.configuration], ['person', 'js']);
  const stop = await bridge.event(since, (it) => it.event === 'stopped', PATIENCE_MS, 'of the stop');
  assert.deepEqual([stop.reason, stop.line ?? 8], ['breakpoint', 8]);
  // An agent joins it.
  const { sessions } = await bridge.run('debug.sessions');
  assert.ok(sessions.every((it) => it.startedBy === 'person'));
  const stack = await bridge.run('debug.stack', { sessionId: began.sessionId });
  assert.equal(stack.frames[0].line, 8);
  await editor.page.locator('.debug-toolbar').waitFor({ timeout: PATIENCE_MS });

  since = bridge.seq();
  await editor.page.keyboard.press('F10');
  const control = await bridge.event(since, (it) => it.event === 'control', PATIENCE_MS, 'of the control');
  assert.equal(control.holder, 'person');
  const step = await bridge.event(since, (it) => it.event === 'stopped', PATIENCE_MS, 'of their step');
  assert.equal(step.reason, 'step');
  await editor.page.getByText('Holdpoint: you drive').waitFor({ timeout: PATIENCE_MS });
  await refused('E_HUMAN_IN_CONTROL', 'debug.continue', {});
  assert.ok((await bridge.run('debug.stack')).totalFrames > 0, 'reading is everybody\'s');

  since = bridge.seq();
  await editor.page.getByText('Holdpoint: you drive').click();
  assert.equal((await bridge.event(since, (it) => it.event === 'control', PATIENCE_MS, 'of the hand-over')).holder, 'agent');
  await stopAll();
});

test('a breakpoint that the person sets is an event', timed, async () => {
  await bridge.run('editor.goto-line', { path: file('app.py'), line: 9 });
  const context = await bridge.run('editor.get-context');
  assert.deepEqual([context.file, context.line], [file('app.py'), 9]);
  const since = bridge.seq();
  await editor.page.keyboard.press('F9');
  const told = await bridge.event(since, (it) => it.event === 'breakpoints', PATIENCE_MS, 'of the breakpoint');
  assert.deepEqual([told.changed[0].path, told.changed[0].line, told.changed[0].verified], [file('app.py'), 9, null]);
  await bridge.run('breakpoint.clear.project');
});

test('symbols come from the language server', timed, async () => {
  const outline = await until(async () => {
    const found = await bridge.run('search.symbol-search', { mode: 'document', path: 'app.js', query: 'add' });
    return found.symbols.length > 0 && found;
  }, PATIENCE_MS, 'the outline');
  assert.deepEqual([outline.symbols[0].name, outline.symbols[0].kind, outline.symbols[0].location.line], ['add', 'function', 2]);
  const used = await bridge.run('symbol.navigate', { path: 'app.js', symbol: 'add' });
  assert.deepEqual(used.locations.map((it) => it.range.start.line).sort(), [2, 9]);
  const renamed = await bridge.run('symbol.rename', { path: 'app.js', symbol: 'add', newName: 'plus' });
  assert.deepEqual([renamed.totalFiles, renamed.totalEdits], [1, 2]);
  assert.match(fs.readFileSync(file('app.js'), 'utf8'), /total = plus\(total, turn\)/);
  await bridge.run('symbol.rename', { path: 'app.js', symbol: 'plus', newName: 'add' });
  await refused('E_NOT_FOUND', 'symbol.navigate', { path: 'app.js', symbol: 'nothing' });
});

test('a stop is seen within 300 ms of the program being there', timed, async () => {
  const { breakpoint } = await bridge.run('breakpoint.set', { path: file('stamp.py'), line: 7 });
  const { sessionId } = await start('stamp');
  const took = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const since = bridge.seq();
    await bridge.run('debug.continue', { wait: false, sessionId }, { timeout: PATIENCE_MS });
    const stop = await bridge.event(since, (it) => it.event === 'stopped', PATIENCE_MS, 'of the stop');
    const now = Date.now();
    assert.deepEqual([stop.reason, stop.sessionId], ['breakpoint', sessionId]);
    if (stop.hitBreakpointIds) assert.deepEqual(stop.hitBreakpointIds, [breakpoint.id]);
    took.push(now - Number((await bridge.run('debug.evaluate', { expression: 'stamp', sessionId })).result));
  }
  figures['stop seen p50'] = Math.round(median(took));
  figures['stop seen max of 20'] = Math.round(Math.max(...took));
  assert.ok(median(took) < STOP_MS, `p50 ${median(took)} ms`);
});

test('no test at the cursor is said, not waited for', timed, async () => {
  await refused('E_NO_TEST_AT_CURSOR', 'test.debug-single', { path: file('app.js'), line: 3, timeoutMs: PATIENCE_MS }, { timeout: PATIENCE_MS });
});

test('the page opens from the command palette', timed, async () => {
  const opened = editor.page.context().waitForEvent('page', { timeout: PATIENCE_MS });
  await editor.command('Holdpoint: Open page');
  // A browser that finds the click too long ago asks again.
  const again = editor.page.locator('.monaco-dialog-box').getByRole('button', { name: /retry|open/i });
  again.click({ timeout: PATIENCE_MS }).catch(() => {});
  const page = await opened;
  await page.waitForURL(/^http:\/\/(localhost|127\.0\.0\.1):/, { timeout: PATIENCE_MS });
  await page.getByRole('heading').first().waitFor({ timeout: PATIENCE_MS });
  await page.close();
  await editor.page.keyboard.press('Escape');
});

test('a simple job takes milliseconds', timed, async () => {
  const took = [];
  for (let turn = 0; turn < 200; turn += 1) {
    const prepared = bridge.prepare();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await bridge.run('control.get', {}, { prepared });
    took.push(bridge.took);
  }
  const cold = [];
  for (let turn = 0; turn < 100; turn += 1) {
    await bridge.run('control.get');
    cold.push(bridge.took);
  }
  figures['round trip p50'] = Number(median(took).toFixed(2));
  figures['round trip max of 200'] = Number(Math.max(...took).toFixed(1));
  figures['round trip p50, folder made with the command'] = Number(median(cold).toFixed(2));
  assert.ok(median(took) < ROUND_TRIP_MS, `p50 ${median(took)} ms`);
  assert.ok(median(cold) < ROUND_TRIP_MS, `p50 ${median(cold)} ms`);
});

test('a second window serves nobody until the first is gone', timed, async () => {
  const { bridgeId } = bridge.host();
  const second = await editor.window();
  await second.getByText('Holdpoint: other window').waitFor({ timeout: PATIENCE_MS });
  assert.equal(bridge.host().bridgeId, bridgeId);
  assert.equal((await bridge.run('control.get')).holder, 'agent');
  await editor.page.close({ runBeforeUnload: false });
  editor.page = second;
  await editor.timed('another window takes over', () => bridge.ready(START_MS, bridgeId));
  await second.getByText('Holdpoint: agents drive').waitFor({ timeout: PATIENCE_MS });
  assert.equal((await bridge.run('control.get')).holder, 'agent');
});

test('a window that reloads comes back with another id, and jobs of before are not run', timed, async () => {
  const { bridgeId } = bridge.host();
  const restarting = await bridge.run('util.restart-vscode');
  assert.equal(restarting.restarting, true);
  const host = await editor.timed('window reload', () => bridge.ready(START_MS, bridgeId));
  assert.notEqual(host.bridgeId, bridgeId);
  assert.deepEqual((await bridge.run('debug.sessions', {}, { timeout: PATIENCE_MS })).sessions, []);
  assert.equal(bridge.events()[0].seq, 1);
  assert.equal(bridge.events()[0].bridgeId, host.bridgeId);
});
