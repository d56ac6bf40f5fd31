// The other end of Holdpoint's bridge, inside of the editor: agents' jobs come in by files, what happens goes out
// by a file.
'use strict';

const vscode = require('vscode');
const { Window } = require('./lib/window');

let window;

function activate(context) {
  window = new Window(vscode, context.extension.packageJSON.version);
}

// The host gives it a moment: locks are freed and waiting jobs answered at once.
function deactivate() {
  window?.dispose();
  window = undefined;
}

module.exports = { activate, deactivate };
