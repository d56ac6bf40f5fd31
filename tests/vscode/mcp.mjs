// An agent's end: `holdpoint mcp` over stdio, one call after another.
import { spawn } from 'node:child_process';
import readline from 'node:readline';

export class Agent {
  constructor(binary, workspace, environment) {
    this.process = spawn(binary, ['mcp', '--workspace', workspace], { cwd: workspace, env: environment, stdio: ['pipe', 'pipe', 'ignore'] });
    this.waiting = new Map();
    this.last = 0;
    readline.createInterface({ input: this.process.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    });
  }

  async open() {
    const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'vscode-test', version: '1' } };
    await this.ask('initialize', client);
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  // What a tool says: its text, its data, and whether it failed.
  async call(name, parameters = {}) {
    const { result, error } = await this.ask('tools/call', { name, arguments: parameters });
    if (error) throw new Error(`${name}: ${error.message}`);
    const text = result.content.map((it) => it.text).join('\n');
    return { text, data: result.structuredContent?.data ?? result.structuredContent, failed: result.isError === true };
  }

  ask(method, params) {
    this.last += 1;
    const id = this.last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method} ${JSON.stringify(params)}`)), 120000);
      this.waiting.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      this.send({ jsonrpc: '2.0', id, method, params });
    });
  }

  send(message) {
    this.process.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close() {
    const gone = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.stdin.end();
    const timer = setTimeout(() => this.process.kill('SIGKILL'), 20000);
    await gone;
    clearTimeout(timer);
  }
}
