// What the server wrote for this recording, with a default for whatever it left out. A file that cannot be read means that
// nothing is recorded, and nothing is said: the program is not ours.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const LIMITS = {
  // Events of a process that are kept: lines, writes, calls.
  events: 20_000_000,
  bytes: 256 * 1024 * 1024,
  // Of a function: its first calls are whole, then it has this part of all events, then calls alone, then counts.
  whole_calls: 20,
  share: 0.05,
  calls: 200_000,
  text: 200,
  items: 5,
  fields: 8,
  depth: 2,
  // How much looking into objects a run may do beside what each event earns it.
  contents: 300_000,
};

function read(file) {
  const given = JSON.parse(fs.readFileSync(file, 'utf8'));
  if (given.version !== 1) return null;
  const folder = path.dirname(path.resolve(file));
  return {
    folder,
    roots: (given.roots ?? [process.cwd()]).map((root) => real(root)),
    exclude: new Set(given.exclude ?? ['node_modules']),
    level: given.level === 'calls' ? 1 : 2,
    auto: given.level !== 'lines',
    focus: new Set(given.focus ?? []),
    limits: { ...LIMITS, ...given.limits },
    secrets: given.secrets ?? {},
    key: given.key ?? '',
    cache: given.cache ?? path.join(folder, 'cache'),
    instrument: given.instrument ?? process.env.HOLDPOINT_BIN ?? null,
  };
}

function real(folder) {
  try {
    return fs.realpathSync(folder);
  } catch {
    return path.resolve(folder);
  }
}

module.exports = { read };
