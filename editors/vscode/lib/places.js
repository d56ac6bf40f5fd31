// Paths as other programs read them: plain, never URIs, where the file is one of this machine.
'use strict';

const URI = /^(?:file|vscode-remote):\/\/[^/]*(\/.*)$/;

function plainPath(text, platform = process.platform) {
  const uri = URI.exec(text);
  return ownPath(uri ? decoded(uri[1]) : text, platform);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// As the editor names it itself (`fsPath`), so that two names of one file are one: `/C:/x` and `C:\x` are `c:\x`.
function ownPath(text, platform = process.platform) {
  if (platform !== 'win32') return text;
  const drive = /^\/?([A-Za-z]):([\\/].*)$/.exec(text);
  return drive ? `${drive[1].toLowerCase()}:${drive[2].replaceAll('/', '\\')}` : text;
}

// A range of the editor's, which counts from 0, as people count.
function shownRange(range) {
  const shown = (at) => ({ line: at.line + 1, character: at.character });
  return { start: shown(range.start), end: shown(range.end) };
}

module.exports = { ownPath, plainPath, shownRange };
