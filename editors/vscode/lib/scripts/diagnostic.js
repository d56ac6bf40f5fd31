// `diagnostic.collect`: what the language servers complain about, and what the editor is.
'use strict';

const SEVERITIES = ['error', 'warning', 'information', 'hint'];

module.exports = {
  'diagnostic.collect': {
    params: { path: { type: 'path' } },
    async run({ path }, { editor, version }) {
      const all = editor.languages.getDiagnostics();
      const wanted = all.filter(([uri]) => path === undefined || uri.fsPath === path);
      const active = editor.debug.activeDebugSession;
      return {
        diagnostics: wanted.flatMap(([uri, found]) => found.map((it) => shown(uri, it))),
        system: {
          vscodeVersion: editor.version,
          extensionVersion: version,
          platform: process.platform,
          arch: process.arch,
          nodeVersion: process.version,
          mode: 'normal',
        },
        debug: {
          hasActiveSession: active !== undefined,
          ...(active ? { sessionId: active.id, sessionName: active.name, sessionType: active.type } : {}),
          breakpointCount: editor.debug.breakpoints.length,
        },
        timestamp: new Date().toISOString(),
      };
    },
  },
};

function shown(uri, { range, message, severity, code, source }) {
  const plain = typeof code === 'object' && code !== null ? code.value : code;
  return { file: uri.fsPath, line: range.start.line + 1, column: range.start.character, message, severity: SEVERITIES[severity], code: plain, source };
}
