// One owner per workspace: `host.lock` is created exclusively and says whose it is; the heartbeat is the mtime of
// `host.json`. A lock whose owner is dead, or silent for long, is taken over; an owner that finds another's name
// in the lock stops.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const { createWhole, readJson } = require('./files');
const limits = require('./limits');

class Lock {
  constructor(folder, bridgeId, now = Date.now) {
    this.file = path.join(folder, 'host.lock');
    this.takeover = path.join(folder, 'host.lock.takeover');
    this.host = path.join(folder, 'host.json');
    this.mine = { bridgeId, pid: process.pid, host: os.hostname() };
    this.now = now;
    this.silentSince = undefined;
  }

  // Whether it is ours now.
  take() {
    if (createWhole(this.file, JSON.stringify(this.mine))) return true;
    const owner = readJson(this.file);
    if (owner && owner.bridgeId === this.mine.bridgeId) return true;
    if (!this.isAbandoned(owner)) return false;
    return this.takeOver(owner);
  }

  isOurs() {
    const owner = readJson(this.file);
    return owner !== undefined && owner.bridgeId === this.mine.bridgeId;
  }

  release() {
    if (this.isOurs()) fs.rmSync(this.file, { force: true });
  }

  isAbandoned(owner) {
    if (owner && owner.host === this.mine.host && !lives(owner.pid)) return true;
    if (this.now() - this.lastBeat() < limits.SILENT_MS) {
      this.silentSince = undefined;
      return false;
    }
    this.silentSince ??= this.now();
    return this.now() - this.silentSince >= limits.LOCK_GRACE_MS;
  }

  // The newer of both files: a lock is made before the first heartbeat.
  lastBeat() {
    const at = (file) => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return Math.max(at(this.host), at(this.file));
  }

  // Two that want it at once agree by a file of their own.
  takeOver(owner) {
    if (!createWhole(this.takeover, JSON.stringify(this.mine))) {
      const other = fs.statSync(this.takeover, { throwIfNoEntry: false });
      if (other && this.now() - other.mtimeMs > limits.LOCK_GRACE_MS) fs.rmSync(this.takeover, { force: true });
      return false;
    }
    try {
      const still = readJson(this.file);
      if ((still && still.bridgeId) !== (owner && owner.bridgeId)) return false;
      fs.rmSync(this.file, { force: true });
      return createWhole(this.file, JSON.stringify(this.mine));
    } finally {
      fs.rmSync(this.takeover, { force: true });
    }
  }
}

function lives(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

module.exports = { Lock };
