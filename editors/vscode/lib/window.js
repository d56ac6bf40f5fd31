// One window of the editor: one debugger, and a bridge for each of its workspace folders.
'use strict';

const { Breakpoints } = require('./breakpoints');
const { Bridge } = require('./bridge');
const { Control } = require('./control');
const { openPage } = require('./page');
const { runScript } = require('./scripts');
const { Sessions } = require('./sessions');
const { Status } = require('./status');

class Window {
  constructor(editor, version) {
    this.editor = editor;
    this.version = version;
    this.bridges = new Map();
    const tell = (event, fields) => this.tell(event, fields);
    this.control = new Control(tell);
    this.status = new Status(editor, this.control);
    this.breakpoints = new Breakpoints(editor, {
      tell,
      live: () => this.sessions?.live() ?? [],
      untilTaken: (change, signal) => this.sessions.untilTaken(change, signal),
    });
    this.sessions = new Sessions(editor, this.breakpoints, {
      tell,
      onPersonMoves: () => this.control.set('person'),
      // Control is over a program; the next one begins with agents.
      onAllEnded: () => this.control.set('agent'),
    });
    this.disposables = [
      this.status, this.breakpoints, this.sessions,
      editor.workspace.onDidChangeWorkspaceFolders(() => this.followFolders()),
      ...this.commands(),
    ];
    this.status.show();
    this.followFolders();
  }

  dispose() {
    for (const bridge of this.bridges.values()) bridge.close();
    this.bridges.clear();
    for (const it of this.disposables.splice(0)) it.dispose();
  }

  tell(event, fields) {
    for (const bridge of this.bridges.values()) bridge.tell(event, fields);
  }

  commands() {
    const { commands } = this.editor;
    return [
      commands.registerCommand('holdpoint.openPage', () => openPage(this.editor)),
      commands.registerCommand('holdpoint.takeControl', () => this.control.set('person')),
      commands.registerCommand('holdpoint.handOver', () => this.control.set('agent')),
      commands.registerCommand('holdpoint.toggleControl', () => this.control.toggle()),
    ];
  }

  followFolders() {
    const folders = (this.editor.workspace.workspaceFolders ?? [])
      .filter((it) => it.uri.scheme === 'file' || it.uri.scheme === 'vscode-remote')
      .map((it) => it.uri.fsPath);
    for (const [folder, bridge] of [...this.bridges]) {
      if (folders.includes(folder)) continue;
      bridge.close();
      this.bridges.delete(folder);
      this.status.states.delete(folder);
    }
    for (const folder of folders) if (!this.bridges.has(folder)) this.serve(folder);
    this.status.show();
  }

  serve(folder) {
    const bridge = new Bridge({
      workspace: folder,
      version: this.version,
      run: (name, params, call) => runScript(name, params, this.callIn(folder, call)),
      onState: (state, why) => this.status.folder(folder, state, why),
      onOpen: (tell) => {
        tell('control', { holder: this.control.holder });
        for (const it of this.sessions.live()) if (it.isAnnounced) tell('session-started', it.introduction());
      },
    });
    this.bridges.set(folder, bridge);
    bridge.open();
  }

  // What a script may use.
  callIn(workspace, call) {
    const { editor, sessions, breakpoints, control, version } = this;
    return Object.assign(call, { workspace, editor, sessions, breakpoints, control, version });
  }
}

module.exports = { Window };
