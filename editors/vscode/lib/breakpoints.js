// The editor's breakpoints, with what the debuggers made of them: `getDebugProtocolBreakpoint` has the line that
// is really bound. Every change, a person's too, becomes an event.
'use strict';

const { Failure } = require('./failure');
const limits = require('./limits');

class Breakpoints {
  constructor(editor, { tell, live, untilTaken }) {
    Object.assign(this, { editor, tell, live, untilTaken });
    this.told = new Map();
    this.timers = new Set();
    this.disposable = editor.debug.onDidChangeBreakpoints((change) => this.changed(change));
  }

  dispose() {
    this.disposable.dispose();
    for (const timer of this.timers) clearTimeout(timer);
  }

  // Those on lines of files; others have no place that could be told.
  all() {
    return this.editor.debug.breakpoints.filter((it) => it.location?.range !== undefined);
  }

  at(file, line) {
    return this.all().filter((it) => it.location.uri.fsPath === file && it.location.range.start.line + 1 === line);
  }

  // What is true of one: as it was asked for, and as the debuggers took it. `null`: no debugger said anything.
  async truth(breakpoint) {
    const said = await Promise.all(this.live().map((it) => ask(it.session, breakpoint)));
    const answers = said.filter((it) => it !== undefined);
    const best = answers.find((it) => it.verified) ?? answers[0];
    const shown = {
      id: breakpoint.id,
      path: breakpoint.location.uri.fsPath,
      line: breakpoint.location.range.start.line + 1,
      enabled: breakpoint.enabled,
    };
    for (const name of ['condition', 'hitCondition', 'logMessage']) if (breakpoint[name]) shown[name] = breakpoint[name];
    shown.verified = best ? best.verified === true : null;
    if (best?.line !== undefined) shown.boundLine = best.line;
    if (best?.message) shown.message = best.message;
    return shown;
  }

  // Sets one and says what the debuggers made of it, as soon as they did.
  async set(file, line, { condition, hitCondition, logMessage }, signal) {
    const { editor } = this;
    const there = this.at(file, line);
    const same = there.find((it) => it.enabled && it.condition === condition && it.hitCondition === hitCondition && it.logMessage === logMessage);
    const others = there.filter((it) => it !== same);
    const place = new editor.Location(editor.Uri.file(file), new editor.Position(line - 1, 0));
    const breakpoint = same ?? new editor.SourceBreakpoint(place, true, condition, hitCondition, logMessage);
    if (others.length > 0) editor.debug.removeBreakpoints(others);
    if (!same) await this.untilTaken(() => editor.debug.addBreakpoints([breakpoint]), signal);
    const until = Date.now() + limits.BIND_MS;
    let shown = await this.truth(breakpoint);
    while (shown.verified !== true && this.live().length > 0 && Date.now() < until) {
      await pause(limits.BREAKPOINT_LOOKS_MS[0]);
      if (signal.aborted) throw signal.reason;
      shown = await this.truth(breakpoint);
    }
    return shown;
  }

  // How many; the debuggers know it, too.
  async remove(breakpoints, signal) {
    if (breakpoints.length > 0) await this.untilTaken(() => this.editor.debug.removeBreakpoints(breakpoints), signal);
    return breakpoints.length;
  }

  // A debugger spoke of breakpoints: the editor knows it in a moment.
  lookSoon() {
    for (const ms of limits.BREAKPOINT_LOOKS_MS) {
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        this.look().catch((error) => console.error(`holdpoint: ${Failure.of(error).message}`));
      }, ms);
      this.timers.add(timer);
    }
  }

  async look() {
    const now = await Promise.all(this.all().map((it) => this.truth(it)));
    this.report(now);
  }

  async changed({ added, removed, changed }) {
    const gone = removed.filter((it) => it.location?.range !== undefined);
    const kept = [...added, ...changed].filter((it) => it.location?.range !== undefined);
    const now = await Promise.all(kept.map((it) => this.truth(it)));
    for (const it of gone) this.told.delete(it.id);
    const removals = gone.map((it) => ({
      id: it.id, path: it.location.uri.fsPath, line: it.location.range.start.line + 1, removed: true, enabled: false, verified: null,
    }));
    this.report(now, removals);
    if (this.live().length > 0) this.lookSoon();
  }

  // Only what is different from what was told before.
  report(now, removals = []) {
    const different = now.filter((it) => this.told.get(it.id) !== JSON.stringify(it));
    for (const it of different) this.told.set(it.id, JSON.stringify(it));
    const changed = [...removals, ...different];
    if (changed.length > 0) this.tell('breakpoints', { changed });
  }
}

async function ask(session, breakpoint) {
  try {
    return await session.getDebugProtocolBreakpoint(breakpoint);
  } catch {
    return undefined;
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

module.exports = { Breakpoints };
