// What recording costs a program that is hard to record: CPU time beside the same program unrecorded, turn by turn, the best of
// several. `HOLDPOINT_BIN=… node bench.mjs --rounds 7 --size 2000`; `--count 1` reads the streams, for the cost of an event.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { streams } from './decode.mjs';
import { plain, record } from './truth.mjs';

const option = (name, otherwise) => Number(process.argv[process.argv.indexOf(name) + 1]) || otherwise;
const rounds = option('--rounds', 7);
const size = option('--size', 2000);
const counts = option('--count', 0) > 0;
const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hp-bench-')));
const program = path.join(folder, 'workload.cjs');
fs.copyFileSync(fileURLToPath(new URL('workload.cjs', import.meta.url)), program);

const ways = [['plain', null], ['calls', { level: 'calls' }], ['auto', {}], ['lines', { level: 'lines' }]];
const best = {};
const events = {};
for (let round = 0; round < rounds; round += 1) {
  for (const [name, config] of ways) {
    const run = config === null ? plain(folder, [program, String(size)]) : record(folder, [program, String(size)], { config });
    const took = Number.parseFloat(run.stdout);
    if (run.status !== 0 || Number.isNaN(took)) throw new Error(run.stderr);
    best[name] = Math.min(best[name] ?? Infinity, took);
    if (counts && config !== null && events[name] === undefined) {
      const [stream] = streams(run.recording);
      events[name] = [stream.calls.length, stream.calls.reduce((n, call) => n + call.steps.length + 2, 0)];
    }
    if (run.recording !== undefined) fs.rmSync(run.recording, { recursive: true });
  }
}
console.log(`node ${process.versions.node}, size ${size}, best of ${rounds}, CPU ms`);
for (const [name] of ways) {
  const over = best[name] - best.plain;
  const [calls, all] = events[name] ?? [0, 0];
  const each = all > 0 ? `, ${calls} calls, ${all} events, ${((over * 1e6) / all).toFixed(0)} ns an event, ${((over * 1e6) / calls).toFixed(0)} ns a call` : '';
  console.log(`${name.padEnd(6)} ${best[name].toFixed(1).padStart(7)}  ×${(best[name] / best.plain).toFixed(1)}${each}`);
}
fs.rmSync(folder, { recursive: true });
