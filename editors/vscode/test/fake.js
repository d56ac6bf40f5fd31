// The part of the editor's API that the extension uses, with debuggers that the tests play.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');

class Emitter {
  constructor() {
    this.listeners = new Set();
    this.event = (listener) => {
      this.listeners.add(listener);
      return { dispose: () => this.listeners.delete(listener) };
    };
  }

  fire(value) {
    for (const listener of [...this.listeners]) listener(value);
  }
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Location {
  constructor(uri, at) {
    this.uri = uri;
    this.range = { start: at, end: at };
  }
}

class SourceBreakpoint {
  constructor(location, enabled, condition, hitCondition, logMessage) {
    Object.assign(this, { location, enabled, condition, hitCondition, logMessage });
    SourceBreakpoint.made = (SourceBreakpoint.made ?? 0) + 1;
    this.id = `bp-${SourceBreakpoint.made}`;
  }
}

const Uri = {
  file: (fsPath) => ({ scheme: 'file', fsPath }),
  parse: (text) => ({ scheme: 'https', text }),
};

// A debugger that answers by a table of functions, and says events when the test does.
class FakeSession {
  constructor(editor, { id, name = 'app', type = 'fake', parent, answers = {}, configuration }) {
    Object.assign(this, { editor, id, name, type, answers, parentSession: parent });
    this.configuration = configuration ?? { name };
    this.bound = new Map();
    this.asked = [];
    this.seq = 0;
  }

  // The editor tells everybody of it.
  start() {
    this.trackers = this.editor.factories.map((it) => it.createDebugAdapterTracker(this)).filter(Boolean);
    this.editor.started.fire(this);
    return this;
  }

  end() {
    this.editor.terminated.fire(this);
  }

  say(event, body) {
    for (const it of this.trackers) it.onDidSendMessage?.({ type: 'event', event, body });
  }

  async customRequest(command, args) {
    this.seq += 1;
    const seq = this.seq;
    this.asked.push([command, args]);
    for (const it of this.trackers) it.onWillReceiveMessage?.({ seq, type: 'request', command, arguments: args });
    const answer = this.answers[command];
    if (answer === undefined) throw new Error(`no ${command} here`);
    let body;
    try {
      body = await answer(args);
    } catch (error) {
      this.respond(seq, command, false);
      throw error;
    }
    this.respond(seq, command, true, body);
    return body;
  }

  respond(seq, command, success, body) {
    for (const it of this.trackers) it.onDidSendMessage?.({ type: 'response', request_seq: seq, command, success, body });
  }

  // The person's own button: the request comes from the editor.
  press(command, args) {
    return this.customRequest(command, args);
  }

  async getDebugProtocolBreakpoint(breakpoint) {
    return this.bound.get(breakpoint.id);
  }
}

function fakeEditor(workspace) {
  const editor = {
    factories: [],
    started: new Emitter(),
    terminated: new Emitter(),
    changedBreakpoints: new Emitter(),
    changedFolders: new Emitter(),
    commandsRun: [],
    launch: { configurations: [], compounds: [] },
    version: '1.139.1',
    Position,
    Location,
    SourceBreakpoint,
    Uri,
    StatusBarAlignment: { Left: 1 },
    extensions: { all: [{ packageJSON: { contributes: { debuggers: [{ type: 'fake' }] } } }] },
  };
  editor.debug = {
    breakpoints: [],
    activeDebugSession: undefined,
    activeStackItem: undefined,
    registerDebugAdapterTrackerFactory: (_, factory) => {
      editor.factories.push(factory);
      return { dispose: () => {} };
    },
    onDidStartDebugSession: editor.started.event,
    onDidTerminateDebugSession: editor.terminated.event,
    onDidChangeBreakpoints: editor.changedBreakpoints.event,
    addBreakpoints: (added) => {
      editor.debug.breakpoints = [...editor.debug.breakpoints, ...added];
      editor.changedBreakpoints.fire({ added, removed: [], changed: [] });
    },
    removeBreakpoints: (removed) => {
      editor.debug.breakpoints = editor.debug.breakpoints.filter((it) => !removed.includes(it));
      editor.changedBreakpoints.fire({ added: [], removed, changed: [] });
    },
    startDebugging: async () => false,
    stopDebugging: async (session) => session.end(),
  };
  editor.item = { show: () => {}, dispose: () => {} };
  editor.window = { createStatusBarItem: () => editor.item, showErrorMessage: (text) => editor.commandsRun.push(['error', text]) };
  editor.commands = {
    registered: new Map(),
    registerCommand: (name, run) => {
      editor.commands.registered.set(name, run);
      return { dispose: () => editor.commands.registered.delete(name) };
    },
    executeCommand: async (...command) => editor.commandsRun.push(command),
  };
  editor.workspace = {
    workspaceFolders: workspace ? [{ uri: Uri.file(workspace), name: 'w' }] : [],
    onDidChangeWorkspaceFolders: editor.changedFolders.event,
    getConfiguration: (section) => ({ get: (name) => (section === 'launch' ? editor.launch[name] : undefined) }),
  };
  return editor;
}

// A folder that goes with the test's process.
function scratch() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-extension-'));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}
process.setMaxListeners(100);

// Looks until something holds.
async function until(look, what = 'it', ms = 10000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

module.exports = { FakeSession, fakeEditor, scratch, until };
