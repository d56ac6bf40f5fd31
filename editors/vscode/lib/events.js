// What happens, one JSON object per line, for whoever watches the file. Written at once: a stop is in the file
// before anybody is told of it in another way.
'use strict';

const fs = require('fs');
const path = require('path');
const limits = require('./limits');

class EventLog {
  // Begins anew: a `bridgeId` numbers its own events from 1.
  constructor(folder, bridgeId, bytes = limits.EVENTS_BYTES) {
    this.file = path.join(folder, 'events.ndjson');
    this.before = path.join(folder, 'events.1.ndjson');
    this.bridgeId = bridgeId;
    this.bytes = bytes;
    this.seq = 0;
    fs.rmSync(this.before, { force: true });
    fs.rmSync(this.file, { force: true });
    this.open();
  }

  append(event, fields) {
    if (this.descriptor === undefined) return;
    this.seq += 1;
    const line = { seq: this.seq, bridgeId: this.bridgeId, ts: Date.now(), event, ...fields };
    const bytes = Buffer.from(JSON.stringify(line) + '\n');
    if (this.size > 0 && this.size + bytes.length > this.bytes) this.rotate();
    fs.writeSync(this.descriptor, bytes);
    this.size += bytes.length;
  }

  close() {
    if (this.descriptor !== undefined) fs.closeSync(this.descriptor);
    this.descriptor = undefined;
  }

  open() {
    this.descriptor = fs.openSync(this.file, 'ax', 0o600);
    this.size = 0;
  }

  rotate() {
    this.close();
    fs.renameSync(this.file, this.before);
    this.open();
  }
}

module.exports = { EventLog };
