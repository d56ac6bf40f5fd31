// Finds jobs: the folder's file events first, a slow scan behind them. A new job folder is watched before it is
// looked into, so a command that arrives in between is not missed. The same watch sees `cancel`.
'use strict';

const fs = require('fs');
const path = require('path');
const { isOurs } = require('./files');
const limits = require('./limits');

class Pickup {
  // `onJob(name)` once per folder with a command, `onCancel(name)` once per folder with a cancel beside it.
  constructor(execute, onJob, onCancel) {
    this.execute = execute;
    this.onJob = onJob;
    this.onCancel = onCancel;
    this.known = new Map();
    this.watched = 0;
    try {
      this.watcher = fs.watch(execute, (_, name) => (name ? this.look(name.toString()) : this.scan()));
      this.watcher.on('error', () => this.unwatch());
    } catch {
      // No more kernel watches: the scan alone finds jobs.
      this.watcher = undefined;
    }
    this.timer = setInterval(() => this.scan(), limits.SCAN_MS);
    this.scan();
  }

  close() {
    clearInterval(this.timer);
    this.unwatch();
    for (const name of [...this.known.keys()]) this.forget(name);
  }

  unwatch() {
    this.watcher?.close();
    this.watcher = undefined;
  }

  // The job is done: its folder is only remembered until the client takes it away.
  finished(name) {
    const job = this.known.get(name);
    if (job) this.unwatchJob(job);
  }

  scan() {
    let names = [];
    try {
      names = fs.readdirSync(this.execute);
    } catch {
      return;
    }
    const there = new Set(names);
    for (const name of [...this.known.keys()]) if (!there.has(name)) this.forget(name);
    for (const name of names) this.look(name);
  }

  look(name) {
    const folder = path.join(this.execute, name);
    if (!this.known.has(name) && !this.meet(name, folder)) return;
    this.check(name, folder);
  }

  // A folder that is new to us; what is no folder of our own user is no job.
  meet(name, folder) {
    const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
    if (!stat || !stat.isDirectory() || !isOurs(stat)) return false;
    const job = { offered: false, cancelled: false, watcher: undefined };
    this.known.set(name, job);
    if (this.watched >= limits.WATCHED) return true;
    try {
      job.watcher = fs.watch(folder, () => this.check(name, folder));
      job.watcher.on('error', () => this.unwatchJob(job));
      this.watched += 1;
    } catch {
      job.watcher = undefined;
    }
    return true;
  }

  check(name, folder) {
    const job = this.known.get(name);
    if (!job) return;
    if (!job.offered && fs.existsSync(path.join(folder, 'command.json'))) {
      job.offered = true;
      this.onJob(name);
    }
    if (job.offered && !job.cancelled && fs.existsSync(path.join(folder, 'cancel'))) {
      job.cancelled = true;
      this.onCancel(name);
    }
  }

  forget(name) {
    const job = this.known.get(name);
    if (job) this.unwatchJob(job);
    this.known.delete(name);
  }

  unwatchJob(job) {
    if (!job.watcher) return;
    job.watcher.close();
    job.watcher = undefined;
    this.watched -= 1;
  }
}

module.exports = { Pickup };
