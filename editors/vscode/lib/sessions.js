// What the editor's debugger does, as its adapters say it: a tracker sees every message of every session. From
// these come the events, the stops that scripts wait for, and what the `dap.*` scripts read later.
'use strict';

const { Failure } = require('./failure');
const limits = require('./limits');
const { Tracked } = require('./tracked');

// Requests that move a program. VS Code ends sessions by itself, so ending one says nothing of a person.
const MOVES = new Set([
  'continue', 'next', 'stepIn', 'stepOut', 'stepBack', 'reverseContinue', 'pause', 'goto', 'restartFrame', 'restart',
]);
const RESUMES = new Set(['continue', 'next', 'stepIn', 'stepOut', 'stepBack', 'reverseContinue', 'goto']);

class Sessions {
  // `tell(event, fields)` writes an event; `onPersonMoves(tracked, command)` when somebody at the editor did.
  constructor(editor, breakpoints, { tell, onPersonMoves, onAllEnded }) {
    Object.assign(this, { editor, breakpoints, tell, onPersonMoves, onAllEnded });
    this.all = new Map();
    this.ended = [];
    this.starting = [];
    this.listeners = new Set();
    // Stops of all sessions, so that a wait can go on where the last one ended.
    this.stopCount = 0;
    const { debug } = editor;
    this.disposables = [
      debug.registerDebugAdapterTrackerFactory('*', { createDebugAdapterTracker: (session) => this.tracker(session) }),
      debug.onDidStartDebugSession((session) => this.announce(this.meet(session))),
      debug.onDidTerminateDebugSession((session) => this.end(session.id)),
    ];
    if (debug.activeDebugSession) this.announce(this.meet(debug.activeDebugSession));
  }

  dispose() {
    for (const it of this.disposables) it.dispose();
  }

  live() {
    return [...this.all.values()];
  }

  // Whoever waits looks again whenever something changed.
  changed() {
    for (const listener of [...this.listeners]) listener();
  }

  // The session that a script means, as far as it is there: its own id, or that of its root.
  find(sessionId) {
    if (sessionId === undefined) return this.active();
    const found = this.all.get(sessionId);
    if (!found) throw new Failure('E_NO_SESSION', `no session \`${sessionId}\` lives`, { details: { sessions: this.ids() } });
    return this.speaker(found);
  }

  active() {
    const active = this.editor.debug.activeDebugSession;
    const found = active && this.all.get(active.id);
    if (found) return this.speaker(found);
    const stopped = this.live().filter((it) => it.isStopped).sort((a, b) => b.stoppedAt - a.stoppedAt);
    const any = stopped[0] ?? this.live().find((it) => !it.parentId);
    if (!any) throw new Failure('E_NO_SESSION', 'no debug session lives');
    return this.speaker(any);
  }

  // Some debuggers have a root without threads; its children run the program. What stopped last speaks.
  speaker(tracked) {
    if (tracked.hasThreads || tracked.isStopped) return tracked;
    const below = this.live().filter((it) => it !== tracked && this.isBelow(it, tracked));
    const stopped = below.filter((it) => it.isStopped).sort((a, b) => b.stoppedAt - a.stoppedAt);
    return stopped[0] ?? below.find((it) => it.hasThreads) ?? below[0] ?? tracked;
  }

  family(tracked) {
    const root = this.root(tracked);
    return this.live().filter((it) => it === root || this.isBelow(it, root));
  }

  root(tracked) {
    let at = tracked;
    while (at.parentId && this.all.has(at.parentId)) at = this.all.get(at.parentId);
    return at;
  }

  isBelow(tracked, root) {
    for (let at = tracked; at; at = this.all.get(at.parentId)) if (at.parentId === root.id) return true;
    return false;
  }

  ids() {
    return this.live().map((it) => it.id);
  }

  // A request to a debugger, as ours: it is no move of the person's, and it ends with the job.
  async request(tracked, command, args, signal) {
    if (signal?.aborted) throw signal.reason;
    if (MOVES.has(command)) tracked.expectOwn(command);
    const answer = Promise.resolve(tracked.session.customRequest(command, args));
    try {
      return await until(answer, signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (MOVES.has(command)) tracked.forgetOwn(command);
      throw new Failure('E_DEBUGGER', `${command}: ${Failure.of(error).message}`, { details: { request: command } });
    }
  }

  // Waits until `find()` finds something, which is looked for whenever anything changes.
  wait(find, { signal, ms }) {
    return new Promise((resolve, reject) => {
      const look = () => {
        let found;
        try {
          found = find();
        } catch (error) {
          return finish(() => reject(error));
        }
        if (found !== undefined) finish(() => resolve(found));
      };
      const stop = () => finish(() => reject(signal.reason));
      const timer = setTimeout(() => finish(() => resolve(undefined)), ms);
      const finish = (then) => {
        clearTimeout(timer);
        this.listeners.delete(look);
        signal?.removeEventListener('abort', stop);
        then();
      };
      if (signal?.aborted) return stop();
      signal?.addEventListener('abort', stop, { once: true });
      this.listeners.add(look);
      look();
    });
  }

  // Runs a change of breakpoints, and waits until the debuggers have taken it: the editor tells them later.
  async untilTaken(change, signal) {
    const before = this.live().filter((it) => it.breakpointsTaken > 0).map((it) => [it, it.breakpointsTaken]);
    const result = change();
    const isTaken = ([tracked, count]) => tracked.isEnded || tracked.breakpointsTaken > count;
    await this.wait(() => (before.every(isTaken) ? true : undefined), { signal, ms: limits.BIND_MS });
    return result;
  }

  meet(session) {
    const known = this.all.get(session.id);
    if (known && !known.isEnded) return known;
    const startedBy = session.parentSession
      ? this.all.get(session.parentSession.id)?.startedBy ?? 'person'
      : this.claimedBy(session);
    const tracked = new Tracked(session, startedBy);
    this.all.set(session.id, tracked);
    return tracked;
  }

  // Our own `startDebugging` is under way for a configuration of that name.
  claimedBy(session) {
    const start = this.starting.find((it) => it.names.has(session.configuration?.name ?? session.name));
    if (!start) return 'person';
    start.roots.push(session.id);
    if (start.isUnwanted) {
      this.starting.splice(this.starting.indexOf(start), 1);
      this.editor.debug.stopDebugging(session);
    }
    return 'agent';
  }

  announce(tracked) {
    if (tracked.isAnnounced) return;
    tracked.isAnnounced = true;
    this.tell('session-started', tracked.introduction());
    this.changed();
  }

  end(id) {
    const tracked = this.all.get(id);
    if (!tracked || tracked.isEnded) return;
    tracked.isEnded = true;
    tracked.queue(() => {
      this.announce(tracked);
      tracked.endedAt = Date.now();
      if (this.all.get(id) === tracked) this.all.delete(id);
      this.ended.push(tracked);
      if (this.ended.length > limits.ENDED) this.ended.shift();
      const exit = tracked.exitCode === undefined ? {} : { exitCode: tracked.exitCode };
      this.tell('session-ended', { sessionId: id, ...exit });
      this.changed();
      if (this.all.size === 0) this.onAllEnded?.();
    });
  }

  tracker(session) {
    const tracked = this.meet(session);
    return {
      onWillReceiveMessage: (message) => this.asked(tracked, message),
      onDidSendMessage: (message) => this.said(tracked, message),
      // The editor says so itself a moment later; where it does not, this is the end.
      onExit: () => setTimeout(() => this.end(session.id), limits.SCAN_MS).unref?.(),
    };
  }

  asked(tracked, message) {
    if (message.type !== 'request') return;
    if (RESUMES.has(message.command)) tracked.noteResume(message);
    if (message.command === 'pause') tracked.isPausing = true;
    if (message.command === 'setBreakpoints') tracked.noteBreakpoints(message);
    if (!MOVES.has(message.command) || tracked.isOwn(message.command)) return;
    this.onPersonMoves?.(tracked, message.command);
  }

  // In the order they come, also where one of them takes a while.
  said(tracked, message) {
    if (message.type === 'response') this.answered(tracked, message);
    if (message.type !== 'event') return;
    const handle = HANDLERS[message.event];
    if (handle) tracked.queue(() => handle(this, tracked, message.body ?? {}));
  }

  answered(tracked, message) {
    if (message.command === 'initialize' && message.success) tracked.capabilities = message.body ?? {};
    if (message.command === 'setBreakpoints') {
      tracked.numberBreakpoints(message);
      this.breakpoints.lookSoon();
      this.changed();
    }
    if (!RESUMES.has(message.command)) return;
    tracked.queue(() => {
      const resume = tracked.resumeOf(message);
      if (!resume || !message.success || resume.stops !== tracked.stops) return;
      const all = message.command === 'continue' && message.body?.allThreadsContinued !== false;
      this.goesOn(tracked, resume.threadId, all);
    });
  }

  goesOn(tracked, threadId, all) {
    if (!tracked.resume(threadId, all)) return;
    this.tell('continued', { sessionId: tracked.id, threadId: threadId ?? null, allThreadsContinued: all });
    this.changed();
  }

  async stopped(tracked, body) {
    this.announce(tracked);
    // A debugger may tell the stop before it answers the step.
    if (tracked.isStopped && tracked.hasPendingResume) this.goesOn(tracked, tracked.stop?.threadId, false);
    const stop = { at: Date.now(), body, threadId: body.threadId, reason: tracked.reasonOf(body) };
    stop.hitBreakpointIds = tracked.hitPlaces(body).flatMap(({ path, line }) => this.breakpoints.at(path, line)).map((it) => it.id);
    stop.located = this.locate(tracked, stop).catch(() => ({}));
    const isLate = (await within(stop.located, limits.LOCATE_MS)) === undefined;
    this.stopCount += 1;
    stop.number = this.stopCount;
    tracked.halt(stop);
    this.tell('stopped', tracked.stopEvent(stop));
    this.changed();
    if (isLate) stop.located.then(() => this.located(tracked, stop));
  }

  // A debugger that took its time to say where: the stop was told before, the place follows.
  located(tracked, stop) {
    if (!stop.frame || tracked.lastStop !== stop) return;
    this.tell('located', tracked.stopEvent(stop));
    this.changed();
  }

  async locate(tracked, stop) {
    let { threadId } = stop;
    if (threadId === undefined) {
      const answer = await tracked.session.customRequest('threads');
      threadId = answer.threads?.[0]?.id;
    }
    const stack = await tracked.session.customRequest('stackTrace', { threadId, startFrame: 0, levels: 1 });
    return Object.assign(stop, { threadId, frame: stack.stackFrames?.[0] });
  }
}

const HANDLERS = {
  stopped: (sessions, tracked, body) => sessions.stopped(tracked, body),
  continued: (sessions, tracked, body) => sessions.goesOn(tracked, body.threadId, body.allThreadsContinued !== false),
  exited: (sessions, tracked, body) => {
    tracked.exitCode = body.exitCode;
  },
  thread: (sessions, tracked, body) => tracked.thread(body),
  breakpoint: (sessions) => sessions.breakpoints.lookSoon(),
  output: (sessions, tracked, body) => {
    sessions.announce(tracked);
    const output = tracked.print(body);
    if (output) sessions.tell('output', { sessionId: tracked.id, ...output });
  },
};

function until(promise, signal) {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const done = () => signal.removeEventListener('abort', stop);
    promise.then(resolve, reject).finally(done);
  });
}

// What comes in time, or nothing: an event must not wait for a slow debugger.
function within(promise, ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

module.exports = { Sessions, within };
