// The bridge of one workspace folder: `.holdpoint/bridge`, its lock, its jobs and its events. Nothing is served
// while another window owns the folder.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const { EventLog } = require('./events');
const { privateFolder, writeWhole, isOurs } = require('./files');
const { Failure } = require('./failure');
const { Jobs } = require('./jobs');
const limits = require('./limits');
const { Lock } = require('./lock');
const { Pickup } = require('./pickup');

const CAPABILITIES = [
  'typed-errors', 'cancel', 'events', 'breakpoint-truth', 'control', 'exceptions', 'one-based-lines',
];

class Bridge {
  // `run(script, params, call)`; `onState(state, why)` with `serving`, `waiting` or `refused`; `onOpen(events)` tells
  // what there is already.
  constructor({ workspace, version, run, onState, onOpen }) {
    Object.assign(this, { workspace, version, run, onState, onOpen });
    this.folder = path.join(workspace, '.holdpoint', 'bridge');
    this.execute = path.join(this.folder, 'execute');
    this.state = 'closed';
  }

  open() {
    this.bridgeId = `extHost-${crypto.randomBytes(4).toString('hex')}`;
    try {
      this.makeFolders();
      this.lock ??= new Lock(this.folder, this.bridgeId);
      this.lock.mine.bridgeId = this.bridgeId;
      if (this.lock.take()) this.serve();
      else this.wait();
    } catch (error) {
      this.become('refused', Failure.of(error).message);
    }
  }

  close() {
    clearInterval(this.timer);
    this.jobs?.close();
    this.pickup?.close();
    this.events?.close();
    this.jobs = this.pickup = this.events = undefined;
    if (this.state === 'serving') this.lock.release();
    this.state = 'closed';
  }

  tell(event, fields) {
    if (this.state !== 'serving') return;
    try {
      this.events.append(event, fields);
    } catch (error) {
      console.error(`holdpoint: an event could not be written: ${error.message}`);
    }
  }

  makeFolders() {
    const stat = fs.statSync(this.workspace);
    if (!isOurs(stat)) throw new Failure('E_FORBIDDEN', `\`${this.workspace}\` belongs to another user`);
    // `.holdpoint` may hold files that are shared with others; only what is below is private.
    const above = path.dirname(this.folder);
    fs.mkdirSync(above, { recursive: true });
    if (!isOurs(fs.lstatSync(above)) || !fs.lstatSync(above).isDirectory()) {
      throw new Failure('E_FORBIDDEN', `\`${above}\` is no folder of yours`);
    }
    privateFolder(this.folder);
    privateFolder(this.execute);
    writeWhole(path.join(this.folder, '.gitignore'), '*\n');
  }

  serve() {
    clearInterval(this.timer);
    // Jobs of a window before this one: nobody knows what they were for. They are not run.
    for (const name of fs.readdirSync(this.execute)) {
      fs.rmSync(path.join(this.execute, name), { recursive: true, force: true });
    }
    this.events = new EventLog(this.folder, this.bridgeId);
    this.jobs = new Jobs({
      execute: this.execute,
      bridgeId: this.bridgeId,
      run: this.run,
      onDone: (name) => this.pickup?.finished(name),
    });
    this.pickup = new Pickup(this.execute, (name) => this.jobs.offer(name), (name) => this.jobs.cancel(name));
    this.become('serving');
    this.onOpen?.((event, fields) => this.tell(event, fields));
    writeWhole(path.join(this.folder, 'host.json'), JSON.stringify(this.host(), null, 2) + '\n');
    this.timer = setInterval(() => this.beat(), limits.HEARTBEAT_MS);
  }

  host() {
    return {
      bridgeId: this.bridgeId,
      version: 1,
      platform: process.platform,
      workspace: this.workspace,
      pid: process.pid,
      startedAt: new Date().toISOString(),
      wslAware: true,
      holdpoint: { protocol: 1, version: this.version, capabilities: CAPABILITIES },
    };
  }

  // Another window has it; when it is gone, this one serves.
  wait() {
    this.become('waiting', 'another window on this folder serves agents');
    clearInterval(this.timer);
    this.timer = setInterval(() => {
      try {
        if (this.lock.take()) this.serve();
      } catch {
        // The folder is gone, or not ours any more: begin again.
        this.reopen();
      }
    }, limits.LOCK_LOOK_MS);
  }

  // Whoever finds its lock in other hands, or its folder gone, must not go on as if it owned it.
  beat() {
    try {
      if (!this.lock.isOurs()) return this.reopen();
      const now = new Date();
      fs.utimesSync(path.join(this.folder, 'host.json'), now, now);
    } catch {
      this.reopen();
    }
  }

  reopen() {
    this.close();
    this.open();
  }

  become(state, why) {
    if (this.state === state) return;
    this.state = state;
    this.onState?.(state, why);
  }
}

module.exports = { Bridge };
