// One debug session as its adapter tells it: who started it, which threads stand, what it printed. Pure state.
'use strict';

const { plainPath } = require('./places');
const limits = require('./limits');

class Tracked {
  constructor(session, startedBy) {
    this.session = session;
    this.id = session.id;
    this.name = session.name;
    this.type = session.type;
    this.parentId = session.parentSession?.id;
    this.startedBy = startedBy;
    this.startedAt = Date.now();
    this.capabilities = {};
    this.threads = new Map();
    this.stops = 0;
    // Where it stands, while it stands; and the last stop, also when it goes on.
    this.stop = undefined;
    this.lastStop = undefined;
    this.history = [];
    this.outputs = [];
    this.outputsDropped = 0;
    this.exceptions = [];
    this.own = new Map();
    this.pending = new Map();
    this.last = Promise.resolve();
    this.tellsThreads = false;
    this.isPausing = false;
    // How often its debugger was told which breakpoints there are.
    this.breakpointsTaken = 0;
    // Which lines of which files those are that the debugger knows by number.
    this.numbered = new Map();
    this.telling = new Map();
  }

  get isStopped() {
    return this.stop !== undefined;
  }

  get stoppedAt() {
    return this.stop?.at ?? 0;
  }

  // A root that only starts others has none and never will.
  get hasThreads() {
    return this.tellsThreads || this.threads.size > 0;
  }

  get hasPendingResume() {
    return this.pending.size > 0;
  }

  // What the adapter says is looked at in its order.
  queue(handle) {
    this.last = this.last.then(handle).catch((error) => console.error(`holdpoint: ${error.message}`));
    return this.last;
  }

  introduction() {
    const folder = this.session.workspaceFolder?.uri.fsPath;
    return {
      sessionId: this.id,
      ...(this.parentId ? { parentId: this.parentId } : {}),
      name: this.name,
      type: this.type,
      configuration: this.session.configuration?.name ?? this.name,
      ...(folder ? { workspaceFolder: folder } : {}),
      startedBy: this.startedBy,
    };
  }

  expectOwn(command) {
    this.own.set(command, (this.own.get(command) ?? 0) + 1);
  }

  forgetOwn(command) {
    this.own.set(command, Math.max(0, (this.own.get(command) ?? 0) - 1));
  }

  // Whether a request that passes is one of ours; each is counted once.
  isOwn(command) {
    const count = this.own.get(command) ?? 0;
    if (count > 0) this.own.set(command, count - 1);
    return count > 0;
  }

  // What the debugger is told, and then its numbers for it, in the same order.
  noteBreakpoints({ seq, arguments: told }) {
    this.telling.set(seq, told);
  }

  numberBreakpoints({ request_seq: seq, success, body }) {
    const told = this.telling.get(seq);
    this.telling.delete(seq);
    this.breakpointsTaken += 1;
    if (!told?.source?.path || !success) return;
    const path = plainPath(told.source.path);
    (body?.breakpoints ?? []).forEach(({ id }, at) => {
      const line = told.breakpoints?.[at]?.line;
      if (id !== undefined && line !== undefined) this.numbered.set(id, { path, line });
    });
  }

  // The places that a stop names by the debugger's numbers.
  hitPlaces({ hitBreakpointIds }) {
    return (hitBreakpointIds ?? []).map((id) => this.numbered.get(id)).filter(Boolean);
  }

  noteResume(message) {
    this.pending.set(message.seq, { threadId: message.arguments?.threadId, stops: this.stops });
  }

  resumeOf(message) {
    const resume = this.pending.get(message.request_seq);
    this.pending.delete(message.request_seq);
    return resume;
  }

  // Whether anything that stood goes on.
  resume(threadId, all) {
    if (all || threadId === undefined || this.threads.size === 0) {
      const stood = this.isStopped;
      for (const id of this.threads.keys()) this.threads.set(id, false);
      this.stop = undefined;
      return stood;
    }
    const stood = this.threads.get(threadId) === true;
    this.threads.set(threadId, false);
    if (this.stop?.threadId === threadId) this.stop = undefined;
    return stood;
  }

  // The debugger's word; but some call it a step when they were asked to pause.
  reasonOf({ reason }) {
    return this.isPausing && reason === 'step' ? 'pause' : reason;
  }

  halt(stop) {
    this.isPausing = false;
    this.stops += 1;
    this.stop = this.lastStop = stop;
    this.pending.clear();
    if (stop.body.allThreadsStopped) for (const id of this.threads.keys()) this.threads.set(id, true);
    if (stop.threadId !== undefined) this.threads.set(stop.threadId, true);
    const entry = { ts: stop.at, reason: stop.reason, threadId: stop.threadId, place: this.placeOf(stop) };
    this.history.push(entry);
    if (this.history.length > limits.STOPS) this.history.shift();
    if (stop.reason === 'exception') {
      const { description, text } = stop.body;
      this.exceptions.push({ ts: stop.at, message: text ?? description ?? 'exception', description, place: entry.place, outputs: this.outputs.length + this.outputsDropped });
    }
  }

  thread({ reason, threadId }) {
    this.tellsThreads = true;
    if (reason === 'exited') {
      this.threads.delete(threadId);
      if (this.stop?.threadId === threadId) this.stop = undefined;
    } else if (!this.threads.has(threadId)) {
      this.threads.set(threadId, false);
    }
  }

  // A line of the program's; what debuggers say to editor vendors is nobody's business.
  print({ category = 'console', output = '', source, line, column }) {
    if (category === 'telemetry') return undefined;
    const text = output.slice(0, limits.OUTPUT_CHARACTERS);
    const from = source?.path ? { file: plainPath(source.path), line, column } : undefined;
    this.outputs.push({ ts: Date.now(), category, text, source: from });
    if (this.outputs.length > limits.OUTPUTS) {
      this.outputs.shift();
      this.outputsDropped += 1;
    }
    const cut = output.length > text.length ? { omitted: output.length - text.length } : {};
    return { category, text, ...cut };
  }

  placeOf(stop) {
    const { frame } = stop;
    if (!frame) return { file: null, line: null, column: null, functionName: null, frameId: null };
    return {
      file: frame.source?.path ? plainPath(frame.source.path) : frame.source?.name ?? null,
      line: frame.line,
      column: frame.column,
      functionName: frame.name,
      frameId: frame.id,
    };
  }

  stopEvent(stop) {
    const { body } = stop;
    const text = body.text ?? body.description;
    return {
      sessionId: this.id,
      reason: stop.reason,
      threadId: stop.threadId ?? null,
      allThreadsStopped: body.allThreadsStopped === true,
      ...(stop.hitBreakpointIds?.length ? { hitBreakpointIds: stop.hitBreakpointIds } : {}),
      ...this.placeOf(stop),
      ...(text ? { text } : {}),
    };
  }
}

module.exports = { Tracked };
