// A client of the bridge: files in, files out, as docs/contract/bridge.md has it.
import fs from 'node:fs';
import path from 'node:path';

let jobs = 0;

export class Bridge {
  constructor(workspace) {
    this.folder = path.join(workspace, '.holdpoint', 'bridge');
  }

  host() {
    try {
      return JSON.parse(fs.readFileSync(path.join(this.folder, 'host.json'), 'utf8'));
    } catch {
      return undefined;
    }
  }

  // Waits for a bridge that is not the one of before.
  async ready(ms, notId) {
    return until(() => {
      const host = this.host();
      return host && host.bridgeId !== notId && fs.existsSync(path.join(this.folder, 'host.lock')) ? host : undefined;
    }, ms, 'a bridge that serves');
  }

  prepare() {
    jobs += 1;
    const folder = path.join(this.folder, 'execute', `job-${process.pid}-${jobs}`);
    fs.mkdirSync(folder, { mode: 0o700 });
    return folder;
  }

  // Runs one script; the data, or an error with the code. `cancelAfter` gives up after so many ms.
  async run(scriptName, params = {}, { timeout = 60000, cancelAfter, prepared } = {}) {
    const folder = prepared ?? this.prepare();
    const done = this.answered(folder, timeout + 10000);
    const command = { version: 1, clientId: 'test', id: path.basename(folder), createdAt: new Date().toISOString(), scriptName, params, timeout };
    fs.writeFileSync(path.join(folder, 'command.json.tmp'), JSON.stringify(command), { mode: 0o600 });
    const at = performance.now();
    fs.renameSync(path.join(folder, 'command.json.tmp'), path.join(folder, 'command.json'));
    if (cancelAfter !== undefined) setTimeout(() => fs.writeFileSync(path.join(folder, 'cancel'), ''), cancelAfter);
    await done;
    this.took = performance.now() - at;
    return this.read(folder);
  }

  read(folder) {
    const json = (name) => {
      const file = path.join(folder, name);
      return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined;
    };
    const [failed, answer] = [json('error.json'), json('response.json')];
    const data = answer?.dataRef ? json(answer.dataRef) : answer?.data;
    fs.rmSync(folder, { recursive: true, force: true });
    this.envelope = failed ?? answer;
    if (failed) throw Object.assign(new Error(`${failed.error.code}: ${failed.error.message}`), failed.error);
    return data;
  }

  answered(folder, ms) {
    return new Promise((resolve, reject) => {
      const watcher = fs.watch(folder, (_, name) => name === 'done' && finish(resolve));
      const timer = setTimeout(() => finish(() => reject(new Error(`no answer within ${ms} ms in ${folder}`))), ms);
      const finish = (then) => {
        clearTimeout(timer);
        watcher.close();
        then();
      };
      if (fs.existsSync(path.join(folder, 'done'))) finish(resolve);
    });
  }

  events() {
    const text = fs.readFileSync(path.join(this.folder, 'events.ndjson'), 'utf8');
    return text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }

  // The number of the last event so far.
  seq() {
    return this.events().at(-1)?.seq ?? 0;
  }

  async event(since, isWanted, ms, what) {
    return until(() => this.events().find((it) => it.seq > since && isWanted(it)), ms, `the event ${what}`);
  }
}

// Looks until there is something: the file tells nobody else.
export async function until(look, ms, what) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
