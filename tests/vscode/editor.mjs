// A real VS Code: code-server on loopback with our extension, its workbench in a browser without a window.
// Everything of it is in one folder and one process group, which the command that runs this test ends.
import { spawn, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { until } from './bridge.mjs';

const need = (name) => process.env[name] ?? fail(`${name} is not set: this is run by \`cargo xtask test --vscode\``);
const fail = (text) => {
  throw new Error(text);
};

// A machine that does other things too: everything takes its time.
export const START_MS = 180000;

export class Editor {
  constructor() {
    this.home = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-vscode-'));
    this.workspace = path.join(this.home, 'workspace');
    this.times = {};
    fs.cpSync(path.join(import.meta.dirname, 'workspace'), this.workspace, { recursive: true });
  }

  async timed(what, work) {
    const at = performance.now();
    const result = await work();
    this.times[what] = Math.round(performance.now() - at);
    return result;
  }

  async open() {
    await this.timed('install extensions', async () => this.install());
    await this.timed('start code-server', () => this.start());
    await this.timed('start browser', async () => {
      this.browser = await chromium.launch({
        executablePath: onPath(need('HOLDPOINT_CHROMIUM')),
        args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
      });
    });
    this.page = await this.timed('open workbench', () => this.window());
  }

  // A window on the workspace.
  async window() {
    const page = await this.browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(START_MS);
    await page.goto(`http://127.0.0.1:${this.port}/?folder=${encodeURIComponent(this.workspace)}`);
    await page.waitForSelector('.monaco-workbench .part.statusbar');
    return page;
  }

  // What a person does to run a command by its name.
  async command(name) {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget input');
    await input.fill(`>${name}`);
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first().waitFor();
    await this.page.keyboard.press('Enter');
  }

  code(...args) {
    const folders = ['--user-data-dir', path.join(this.home, 'data'), '--extensions-dir', path.join(this.home, 'extensions'), '--config', path.join(this.home, 'config.yaml')];
    return [need('HOLDPOINT_CODE_ENTRY'), ...folders, ...args];
  }

  environment() {
    return { ...process.env, HOME: this.home, HOLDPOINT_TEST_PYTHON: need('HOLDPOINT_TEST_PYTHON'), XDG_DATA_HOME: path.join(this.home, 'xdg') };
  }

  install() {
    fs.writeFileSync(path.join(this.home, 'config.yaml'), '');
    // What is the machine's own is not read from the user's settings.
    this.settings('Machine', { 'holdpoint.path': need('HOLDPOINT_BIN') });
    this.settings('User', {
      'workbench.startupEditor': 'none', 'telemetry.telemetryLevel': 'off', 'debug.javascript.autoAttachFilter': 'disabled',
      'extensions.autoCheckUpdates': false, 'debug.openDebug': 'neverOpen', 'chat.disableAIFeatures': true,
    });
    const args = this.code('--install-extension', need('HOLDPOINT_VSIX'), '--install-extension', need('HOLDPOINT_TEST_VSIX'));
    const said = execFileSync(need('HOLDPOINT_CODE_NODE'), args, { env: this.environment(), timeout: START_MS, encoding: 'utf8' });
    if (!said.includes('successfully installed')) fail(said);
  }

  settings(whose, values) {
    const folder = path.join(this.home, 'data', whose);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'settings.json'), JSON.stringify(values));
  }

  async start() {
    this.port = await freePort();
    const args = this.code(
      '--auth', 'none', '--bind-addr', `127.0.0.1:${this.port}`, '--disable-telemetry', '--disable-update-check', '--disable-workspace-trust',
      '--disable-getting-started-override', this.workspace,
    );
    this.log = fs.openSync(path.join(this.home, 'code-server.log'), 'a');
    this.server = spawn(need('HOLDPOINT_CODE_NODE'), args, { env: this.environment(), stdio: ['ignore', this.log, this.log] });
    const ended = new Promise((_, reject) => this.server.once('exit', (code) => reject(new Error(`code-server ended with ${code}\n${this.said()}`))));
    ended.catch(() => {});
    await Promise.race([ended, until(() => this.isUp(), START_MS, 'code-server answers')]);
  }

  async isUp() {
    try {
      return (await fetch(`http://127.0.0.1:${this.port}/healthz`)).ok;
    } catch {
      return false;
    }
  }

  said() {
    return fs.readFileSync(path.join(this.home, 'code-server.log'), 'utf8').slice(-4000);
  }

  async close() {
    await this.browser?.close().catch(() => {});
    // The server that the page's command started.
    if (fs.existsSync(path.join(this.home, '.holdpoint'))) execFileSync(need('HOLDPOINT_BIN'), ['stop'], { cwd: this.workspace, env: this.environment() });
    if (this.server && this.server.exitCode === null) {
      const gone = new Promise((resolve) => this.server.once('exit', resolve));
      this.server.kill('SIGTERM');
      const timer = setTimeout(() => this.server.kill('SIGKILL'), 5000);
      await gone;
      clearTimeout(timer);
    }
    if (process.env.HOLDPOINT_KEEP) console.log(`kept: ${this.home}`);
    else fs.rmSync(this.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

// The browser's driver wants to know exactly where it is.
function onPath(name) {
  const folders = name.includes('/') ? [''] : process.env.PATH.split(path.delimiter);
  return folders.map((it) => path.join(it, name)).find((it) => fs.existsSync(it)) ?? fail(`no ${name}`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
