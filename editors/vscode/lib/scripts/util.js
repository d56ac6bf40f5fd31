// `util.*`: the window itself.
'use strict';

// Time for the answer to be read before the window that wrote it goes.
const ANSWER_MS = 250;

module.exports = {
  'util.restart-vscode': {
    params: {},
    async run(_, { editor }) {
      setTimeout(() => editor.commands.executeCommand('workbench.action.reloadWindow'), ANSWER_MS);
      return { restarting: true, message: 'the window reloads; a new bridgeId in host.json says that it is back' };
    },
  },
};
