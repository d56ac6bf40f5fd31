// Runs the tests of real packages as they are and recorded, and says where outcome, output or exit code differ.
// `node suites.mjs FOLDER` with packages that ship their tests in FOLDER/node_modules, and tape beside them.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { streams } from './decode.mjs';
import { plain, record } from './truth.mjs';

const PACKAGES = ['qs', 'object-inspect', 'deep-equal', 'resolve', 'minimist', 'is-regex', 'es-to-primitive', 'side-channel', 'array-includes', 'for-each',
  'call-bind', 'is-callable', 'object.assign', 'has-symbols'];

const base = path.resolve(process.argv[2] ?? '.');
const tape = path.join(base, 'node_modules/tape/bin/tape');
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'suites-'));
let wrong = 0;
for (const name of PACKAGES) {
  const home = path.join(base, 'node_modules', name);
  const files = fs.readdirSync(path.join(home, 'test')).filter((file) => file.endsWith('.js')).map((file) => `test/${file}`);
  const as = plain(scratch, [tape, ...files], { cwd: home });
  const with_ = record(scratch, [tape, ...files], { cwd: home, root: home, config: { exclude: [] } });
  const same = tidy(as.stdout) === tidy(with_.stdout) && tidy(as.stderr) === tidy(with_.stderr) && as.status === with_.status;
  let calls = 0;
  let events = 0;
  for (const stream of streams(with_.recording)) {
    calls += stream.calls.length;
    events += stream.linear.length;
  }
  const passed = /^# pass +(\d+)/m.exec(as.stdout)?.[1] ?? '?';
  console.log(`${same ? 'same' : 'DIFFERS'}  ${name}: exit ${as.status}/${with_.status}, ${passed} assertions, ${calls} calls, ${events} events`);
  if (!same || calls === 0) {
    wrong += 1;
    fs.writeFileSync(path.join(scratch, `${name}.plain`), as.stdout + as.stderr);
    fs.writeFileSync(path.join(scratch, `${name}.recorded`), with_.stdout + with_.stderr);
  }
}
console.log(`${PACKAGES.length - wrong} of ${PACKAGES.length} the same; ${scratch}`);
process.exitCode = wrong === 0 ? 0 : 1;

// Times and process numbers are of the run.
function tidy(text) {
  return text.replace(/\(?\d+(\.\d+)? ?ms\)?/g, 'T').replace(/node:\d+\)/g, 'P)').replace(/\d\d:\d\d:\d\d/g, 'H');
}
