// A job's way: claimed, run once, answered once. Ten run at a time, others wait for their turn; a cancel ends
// the script itself by its AbortSignal, and is answered at once.
'use strict';

const fs = require('fs');
const path = require('path');
const { Failure, cancelled } = require('./failure');
const { createWhole, writeWhole, isGone } = require('./files');
const limits = require('./limits');

class Jobs {
  // `run(scriptName, params, call)` carries one out; `onDone(name)` when its answer is there.
  constructor({ execute, bridgeId, run, onDone }) {
    Object.assign(this, { execute, bridgeId, run, onDone });
    this.running = new Map();
    this.queue = [];
    this.isClosed = false;
  }

  offer(name) {
    if (this.isClosed) return;
    const job = { name, folder: path.join(this.execute, name), abort: new AbortController(), at: Date.now() };
    try {
      if (!createWhole(path.join(job.folder, 'claimed.json'), this.claim())) return;
      job.command = readCommand(job.folder);
    } catch (error) {
      if (!isGone(error)) this.answer(job, undefined, Failure.of(error));
      return;
    }
    if (this.running.size < limits.RUNNING) this.start(job);
    else if (this.queue.length < limits.QUEUED) this.queue.push(job);
    else this.answer(job, undefined, new Failure('E_CAPACITY', `${limits.QUEUED} jobs wait already; this one did not run`));
  }

  cancel(name, why) {
    const waiting = this.queue.findIndex((job) => job.name === name);
    if (waiting >= 0) {
      const [job] = this.queue.splice(waiting, 1);
      this.answer(job, undefined, cancelled('the job was cancelled before it ran'));
    }
    this.running.get(name)?.abort.abort(why ?? cancelled());
  }

  // The window closes: whoever waits is told, and nothing starts any more.
  close() {
    this.isClosed = true;
    const gone = new Failure('E_BRIDGE_RESTARTED', 'the editor window was closed or reloaded', {
      hint: 'wait for a new `bridgeId` in host.json, then look at `debug.sessions`',
    });
    for (const job of this.queue.splice(0)) this.answer(job, undefined, gone);
    for (const job of this.running.values()) {
      job.abort.abort(gone);
      this.answer(job, undefined, gone);
    }
  }

  claim() {
    return JSON.stringify({ bridgeId: this.bridgeId, claimedAt: new Date().toISOString(), pid: process.pid });
  }

  async start(job) {
    this.running.set(job.name, job);
    const signal = job.abort.signal;
    const timer = this.deadline(job);
    let data;
    let failure;
    try {
      const call = { signal, progress: (text) => progress(job, text), envelope: {} };
      const given = this.run(job.command.scriptName, job.command.params, call);
      data = await Promise.race([given, aborted(signal)]);
      job.envelope = call.envelope;
    } catch (error) {
      failure = Failure.of(signal.aborted ? signal.reason : error);
    }
    clearTimeout(timer);
    this.answer(job, data, failure);
    this.running.delete(job.name);
    const next = this.isClosed ? undefined : this.queue.shift();
    if (next) this.start(next);
  }

  // The client's patience, where it says how long that is; nobody reads a later answer.
  deadline(job) {
    const { timeout } = job.command;
    if (!Number.isFinite(timeout) || timeout <= 0) return undefined;
    const left = Math.min(timeout, limits.TIMEOUT_MS);
    const late = () => new Failure('E_TIMEOUT', `\`${job.command.scriptName}\` took longer than ${left} ms`);
    return setTimeout(() => job.abort.abort(late()), left);
  }

  // Once; the client may have taken its folder away.
  answer(job, data, failure) {
    if (job.isAnswered) return;
    job.isAnswered = true;
    const meta = {
      requestId: job.command?.id ?? job.name,
      mode: 'normal',
      timestamp: new Date().toISOString(),
      duration: Date.now() - job.at,
    };
    try {
      if (failure) writeWhole(path.join(job.folder, 'error.json'), JSON.stringify({ ok: false, type: 'error', error: failure, meta }));
      else respond(job, data, meta);
      fs.writeFileSync(path.join(job.folder, 'done'), '', { mode: 0o600 });
    } catch (error) {
      if (!isGone(error)) console.error(`holdpoint: job ${job.name} could not be answered: ${error.message}`);
    }
    this.onDone?.(job.name);
  }
}

function readCommand(folder) {
  const file = path.join(folder, 'command.json');
  if (fs.statSync(file).size > limits.COMMAND_BYTES) throw new Failure('E_INVALID_REQUEST', 'the command is too long');
  let command;
  try {
    command = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    if (isGone(error)) throw error;
    throw new Failure('E_INVALID_REQUEST', 'command.json is no JSON');
  }
  if (typeof command !== 'object' || command === null || typeof command.scriptName !== 'string') {
    throw new Failure('E_INVALID_REQUEST', 'command.json names no script');
  }
  return command;
}

function respond(job, data, meta) {
  const answer = { ok: true, type: 'success', data: data ?? null, meta, ...job.envelope };
  const text = JSON.stringify(answer.data);
  if (text.length > limits.INLINE_BYTES) {
    writeWhole(path.join(job.folder, 'data.json'), text);
    delete answer.data;
    answer.dataRef = 'data.json';
  }
  writeWhole(path.join(job.folder, 'response.json'), JSON.stringify(answer));
}

function progress(job, text) {
  job.told = (job.told ?? 0) + 1;
  const line = JSON.stringify({ ts: Date.now(), seq: job.told, type: 'progress', msg: text }) + '\n';
  try {
    fs.appendFileSync(path.join(job.folder, 'events.ndjson'), line, { mode: 0o600 });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function aborted(signal) {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

module.exports = { Jobs };
