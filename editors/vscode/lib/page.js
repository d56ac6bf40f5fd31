// `Holdpoint: Open page`: the address comes from the holdpoint program, with a key in it that works once.
'use strict';

const { execFile } = require('child_process');
const { Failure } = require('./failure');

const PATIENCE_MS = 20000;

function address(program, folder) {
  return new Promise((resolve, reject) => {
    execFile(program, ['open', '--print'], { cwd: folder, timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      const url = stdout?.trim().split('\n').pop() ?? '';
      if (!error && /^https?:\/\//.test(url)) return resolve(url);
      if (error?.code === 'ENOENT') {
        return reject(new Failure('E_NOT_FOUND', `no program \`${program}\`; the setting \`holdpoint.path\` says where it is`));
      }
      reject(new Failure('E_OPERATION_FAILED', `\`${program} open --print\`: ${(stderr || error?.message || 'no address').trim().split('\n')[0]}`));
    });
  });
}

async function openPage(editor) {
  try {
    const program = editor.workspace.getConfiguration('holdpoint').get('path') || 'holdpoint';
    const folder = editor.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const url = await address(program, folder);
    await editor.env.openExternal(editor.Uri.parse(url, true));
  } catch (error) {
    editor.window.showErrorMessage(`Holdpoint: ${error.message}`);
  }
}

module.exports = { openPage, address };
