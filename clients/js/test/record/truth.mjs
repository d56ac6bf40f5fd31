// Holds recordings of random programs against what their twins say of themselves. `node truth.mjs --programs 1000 --seed 1`.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { shown, streams } from './decode.mjs';
import { program } from './programs.mjs';

const REGISTER = fileURLToPath(new URL('../../record/register.cjs', import.meta.url));

// Records a run in a folder of its own; the cache is shared by all.
export function record(folder, args, more = {}) {
  const recording = fs.mkdtempSync(path.join(folder, 'rec-'));
  const config = { version: 1, roots: [more.root ?? folder], exclude: ['node_modules'], key: '00ff', cache: more.cache ?? path.join(folder, 'cache'), instrument: process.env.HOLDPOINT_BIN, ...more.config };
  const file = path.join(recording, 'config.json');
  fs.writeFileSync(file, JSON.stringify(config));
  const env = { ...process.env, HOLDPOINT_RECORD: file, NODE_OPTIONS: `--require=${REGISTER}`, ...more.env };
  delete env.NODE_TEST_CONTEXT;
  const run = spawnSync(more.node ?? process.execPath, args, { cwd: more.cwd ?? folder, env, encoding: 'utf8', timeout: more.timeout ?? 120_000, maxBuffer: 1 << 28 });
  return { ...run, recording };
}

export function plain(folder, args, more = {}) {
  const env = { ...process.env, ...more.env };
  delete env.NODE_TEST_CONTEXT;
  return spawnSync(more.node ?? process.execPath, args, { cwd: more.cwd ?? folder, env, encoding: 'utf8', timeout: more.timeout ?? 120_000, maxBuffer: 1 << 28 });
}

function told(step) {
  const [n, what, a, b] = step;
  switch (what) {
    case 'call': return [n, `call ${a.fn.qualified}(${a.args.map(shown).join(', ')})`];
    case 'line': return [n, `:${a}`];
    case 'write': return [n, `${a} = ${shown(b)}`];
    case 'resume': return [n, 'resume'];
    default: return [n, `${what} ${shown(a)}`];
  }
}

// Null, or the first thing that is not as the twin says.
export function contradiction(folder, seed) {
  const { plain: text, twin } = program(seed);
  const file = path.join(folder, `p${seed}.cjs`);
  const other = path.join(folder, `t${seed}.cjs`);
  fs.writeFileSync(file, text);
  fs.writeFileSync(other, twin);
  const run = record(folder, [file]);
  const log = `${other}.log`;
  const truth = spawnSync(process.execPath, [other], { encoding: 'utf8', env: { ...process.env, TWIN_LOG: log } });
  if (!fs.existsSync(log)) return { seed, why: 'the twin does not run', truth: truth.stderr };
  if (run.stdout !== truth.stdout || run.status !== truth.status) return { seed, why: 'another output', run: run.stdout + run.stderr, said: truth.stdout };
  const want = JSON.parse(fs.readFileSync(log, 'utf8'));
  const [stream] = streams(run.recording);
  const got = stream.linear.map(told);
  // A run that has looked into enough objects says so, and tells further ones by what they are alone.
  const poor = stream.notes.some((note) => note.limit === 'contents');
  let omitted = 0;
  // Who leaves a `for await` before its end waits until its iterator is closed. Only who runs meanwhile shows it, and the
  // twin knows nothing of it.
  const closing = new Set();
  const closes = text.includes('for await');
  for (let at = 0; at < Math.max(want.length, got.length); at += 1) {
    if (want[at]?.[0] !== got[at]?.[0] || want[at]?.[1] !== got[at]?.[1]) {
      const [n, what] = got[at] ?? [];
      const leaves = closes && what === 'yield undefined' && want[at] !== undefined && want[at][0] !== n;
      if (leaves ? closing.add(n) : what === 'resume' && closing.delete(n)) {
        got.splice(at, 1);
        at -= 1;
        continue;
      }
      // What has unwound a call, and waited for a `finally` here, is the same error: the twin takes it for thrown again.
      const [m, said] = want[at] ?? [];
      const again = m === n && said?.startsWith('raise ') && what === said.replace('raise', 'unwind');
      if (again && got.slice(0, at).some((it) => it[1] === what)) {
        want.splice(at, 1);
        at -= 1;
        continue;
      }
      if (poor && want[at]?.[0] === got[at]?.[0] && isLess(got[at][1], want[at][1])) {
        omitted += 1;
        continue;
      }
      return { seed, why: 'another event', at, want: want.slice(Math.max(0, at - 3), at + 3), got: got.slice(Math.max(0, at - 3), at + 3) };
    }
  }
  for (const used of [file, other, log]) fs.rmSync(used);
  fs.rmSync(run.recording, { recursive: true });
  return { seed, events: want.length, omitted };
}

// Whether one tells what the other does, but for the contents of objects: `v = <Array >` for `v = [26]`.
function isLess(got, want) {
  const parts = got.split(/<\w+ ?>/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return parts.length > 1 && new RegExp(`^${parts.join('.*')}$`, 's').test(want);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name, otherwise) => Number(process.argv[process.argv.indexOf(name) + 1] ?? otherwise) || otherwise;
  const programs = option('--programs', 100);
  const first = option('--seed', 1);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'truth-'));
  let events = 0;
  let omitted = 0;
  let wrong = 0;
  for (let seed = first; seed < first + programs; seed += 1) {
    const found = contradiction(folder, seed);
    if (found.why === undefined) {
      events += found.events;
      omitted += found.omitted;
    } else {
      wrong += 1;
      console.log(JSON.stringify(found, null, 1));
      if (wrong > 3) break;
    }
  }
  console.log(`${programs} programs from seed ${first}, ${events} events, ${omitted} told without contents, ${wrong} contradictions; ${folder}`);
  process.exitCode = wrong === 0 ? 0 : 1;
}
