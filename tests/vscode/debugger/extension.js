// The least that debugs Python in VS Code: debugpy's own adapter behind a contribution.
'use strict';

const vscode = require('vscode');

function activate(context) {
  const python = process.env.HOLDPOINT_TEST_PYTHON;
  const factory = {
    createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(python, ['-m', 'debugpy.adapter']),
  };
  context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory('debugpy-test', factory));
}

module.exports = { activate };
