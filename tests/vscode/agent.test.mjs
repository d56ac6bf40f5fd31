// An agent in a real VS Code: `holdpoint mcp`, the tools it always has, and the editor's own debugger behind them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { Bridge, until } from './bridge.mjs';
import { Editor, START_MS } from './editor.mjs';
import { Agent } from './mcp.mjs';

const PATIENCE_MS = 90000;
const timed = { timeout: 4 * PATIENCE_MS };

const editor = new Editor();
const bridge = new Bridge(editor.workspace);
const file = (name) => path.join(editor.workspace, name);
let agent;

before(async () => {
  try {
    await editor.open();
    await bridge.ready(START_MS);
    agent = new Agent(process.env.HOLDPOINT_BIN, editor.workspace, editor.environment());
    await agent.open();
  } catch (error) {
    await editor.close();
    throw error;
  }
}, { timeout: 4 * START_MS });

after(async () => {
  await agent?.close();
  await editor.close();
}, { timeout: START_MS });

// Each test begins with nothing, also after one that failed.
afterEach(async () => {
  if (!bridge.host()) return;
  await bridge.run('control.set', { holder: 'agent' });
  for (const it of (await bridge.run('debug.sessions')).sessions.filter((one) => !one.parentId)) {
    await bridge.run('debug.stop', { sessionId: it.id }, { timeout: PATIENCE_MS });
  }
  await bridge.run('breakpoint.clear.project');
}, timed);

// A tool that must succeed, with words that its text must have.
async function ok(name, parameters, ...words) {
  const said = await agent.call(name, parameters);
  assert.equal(said.failed, false, `${name}: ${said.text}`);
  for (const word of words) assert.ok(said.text.includes(word), `${name} does not say \`${word}\`:\n${said.text}`);
  return said;
}

async function fails(code, name, parameters) {
  const said = await agent.call(name, parameters);
  assert.ok(said.failed && said.text.includes(`[${code}]`), `${name}: ${said.text}`);
  return said;
}

// Whether it stands there, by this reason.
function stands({ text }, reason, place) {
  assert.match(text, new RegExp(`^stopped \\(${reason}`, 'i'), text);
  assert.ok(text.includes(place), text);
}

for (const [configuration, name, line, end] of [['js', 'app.js', 3, 'total 15'], ['py', 'app.py', 5, 'total 15']]) {
  test(`an agent debugs ${name} in the editor`, timed, async () => {
    await ok('breakpoint_set', { file: file(name), line });
    const launch = { backend: 'vscode', configuration, timeout_s: 60 };
    stands(await ok('debug_launch', launch), 'breakpoint', `${name}:${line}`);
    await ok('debug_stack', {}, 'add', `${name}:${line}`);
    await ok('debug_variables', {}, 'left', 'right');
    await ok('debug_evaluate', { expression: 'left + right + 41' }, '42');
    await fails('E_EVALUATE_FAILED', 'debug_evaluate', { expression: 'no_such_name' });
    stands(await ok('debug_step', {}), 'step', `${name}:${line + 1}`);
    const { breakpoints } = await bridge.run('breakpoint.list');
    assert.deepEqual(breakpoints.map((it) => [it.path, it.line, it.verified]), [[file(name), line, true]]);
    stands(await ok('debug_continue', {}), 'breakpoint', `${name}:${line}`);
    await ok('breakpoint_remove', { file: file(name), line });
    await ok('debug_continue', {}, 'terminated');
    await ok('debug_output', {}, end);
    assert.deepEqual((await bridge.run('breakpoint.list')).breakpoints, []);
  });
}

test('what the person starts is joined, and their step is seen', timed, async () => {
  await bridge.run('breakpoint.set', { path: file('app.js'), line: 8 });
  const since = bridge.seq();
  await editor.page.locator('.monaco-workbench').click({ position: { x: 700, y: 450 } });
  await editor.page.keyboard.press('F5');
  await bridge.event(since, (it) => it.event === 'stopped', PATIENCE_MS, 'of the stop');
  await ok('debug_status', {}, 'started by person');
  await ok('debug_attach', { backend: 'vscode' }, 'app.js:8');
  await ok('timeline_query', { kinds: ['editor_session'] }, 'started in the editor, by a person', 'joined');
  await editor.page.locator('.debug-toolbar').waitFor({ timeout: PATIENCE_MS });
  await editor.page.keyboard.press('F10');
  await until(async () => (await agent.call('debug_status')).text.includes('stopped (step) at app.js'), PATIENCE_MS, 'their step');
  const refused = await fails('E_HUMAN_IN_CONTROL', 'debug_continue', {});
  assert.ok(!refused.text.includes('    at '), refused.text);
  await editor.page.getByText('Holdpoint: you drive').click();
  await bridge.event(since, (it) => it.event === 'control' && it.holder === 'agent', PATIENCE_MS, 'of the hand-over');
  await ok('debug_step', {});
  await ok('debug_stop', {}, 'detached');
  assert.ok((await bridge.run('debug.sessions')).sessions.length > 0, "the person's program goes on");
  await bridge.run('debug.stop', {}, { timeout: PATIENCE_MS });
  const told = async () => (await agent.call('timeline_query', { kinds: ['editor_session'] })).text;
  await until(async () => (await told()).includes('ended in the editor'), PATIENCE_MS, 'its end on the timeline');
  await bridge.run('breakpoint.clear.project');
});

test('a window that is reloaded ends its sessions, and the next one is found', timed, async () => {
  await ok('debug_start', { launch: 'slow', wait: false }, 'Running');
  const { bridgeId } = bridge.host();
  await editor.page.reload();
  await bridge.ready(START_MS, bridgeId);
  await until(async () => (await agent.call('debug_status', {})).text.includes('ended'), PATIENCE_MS, 'the end of the session');
  await ok('breakpoint_set', { file: file('app.py'), line: 5 });
  stands(await ok('debug_launch', { backend: 'vscode', configuration: 'py', timeout_s: 60 }), 'breakpoint', 'app.py:5');
  await ok('debug_stop', {});
  await until(() => fs.readdirSync(path.join(bridge.folder, 'execute')).length <= 1, PATIENCE_MS, 'no job folder stays but one made ahead');
});
