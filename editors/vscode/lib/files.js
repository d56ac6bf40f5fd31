// Files of the bridge: private to their user, and never half there.
'use strict';

const fs = require('fs');
const path = require('path');
const { Failure } = require('./failure');

const me = typeof process.getuid === 'function' ? process.getuid() : undefined;
let written = 0;

function isOurs(stat) {
  return me === undefined || stat.uid === me;
}

// A folder of ours with nobody else's eyes in it; a link or another user's folder is refused.
function privateFolder(folder) {
  fs.mkdirSync(folder, { mode: 0o700, recursive: true });
  const stat = fs.lstatSync(folder);
  if (!stat.isDirectory()) throw new Failure('E_FORBIDDEN', `\`${folder}\` is no folder`);
  if (!isOurs(stat)) throw new Failure('E_FORBIDDEN', `\`${folder}\` belongs to another user`);
  if (me !== undefined && (stat.mode & 0o077) !== 0) fs.chmodSync(folder, 0o700);
}

function temporary(file) {
  written += 1;
  return path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.${written}.tmp`);
}

// Replaces a file as a whole: a reader sees the old one or the new one.
function writeWhole(file, text) {
  const other = temporary(file);
  fs.writeFileSync(other, text, { mode: 0o600, flag: 'wx' });
  fs.renameSync(other, file);
}

// Creates a file, complete, only if there is none: says whether it was us.
function createWhole(file, text) {
  const other = temporary(file);
  fs.writeFileSync(other, text, { mode: 0o600, flag: 'wx' });
  try {
    fs.linkSync(other, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP', 'EMLINK'].includes(error.code)) throw error;
    return createPlain(file, text);
  } finally {
    fs.rmSync(other, { force: true });
  }
}

// Where there are no hard links: exclusive all the same, but a reader may see it empty for an instant.
function createPlain(file, text) {
  try {
    fs.writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

// Whether an error says that the client took its folder away.
function isGone(error) {
  return error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

module.exports = { isOurs, privateFolder, writeWhole, createWhole, readJson, isGone };
