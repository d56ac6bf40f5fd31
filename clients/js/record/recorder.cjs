// One isolate's recorder: its stream is opened, the probes get their limits, and everything that loads a text is told.
'use strict';

const stream = require('./stream.cjs');
const { rules, table } = require('./values.cjs');
const { probes, plan, thrown, quietly, finish, uncaught } = require('./frames.cjs');
const secrets = require('./secrets.cjs');
const texts = require('./texts.cjs');

function begin(config) {
  if (!stream.open(config.folder)) return;
  const { limits } = config;
  const { weight, isSecret, conceal, mark } = secrets.make(config.secrets, config.key);
  // Names are asked for at every field: what is known of one is kept in a table that no program changes.
  const known = table();
  rules.weight = (name) => {
    let by = known.get(name);
    if (by === undefined) {
      by = sure(() => weight(name), -1);
      if (by < 0) return 2;
      if (++known.held < 50_000) known.set(name, by);
    }
    return by;
  };
  rules.isSecret = (by, text) => sure(() => isSecret(by, text), true);
  rules.conceal = (text) => sure(() => conceal(text), null);
  rules.mark = (text) => sure(() => mark(text), 0);
  rules.text = limits.text;
  rules.items = limits.items;
  rules.fields = limits.fields;
  rules.depth = limits.depth;
  rules.purse = limits.contents;
  Object.assign(plan, { limits, auto: config.auto, level: config.level, focus: config.focus, define: row });
  texts.setup(config, note);
  // Which names say secret is known before anything of a text runs: what tells it uses builtins that are the program's.
  texts.state.onNames = (names) => {
    for (let at = 0; at < names.length; at += 1) rules.weight(names[at]);
  };
  started(config);
  Object.freeze(probes);
  offer(globalThis);
  const { mend } = require('./stacks.cjs');
  mend(globalThis);
  require('./loaders.cjs').hook(config, quietly, (realm) => {
    offer(realm);
    mend(realm);
  });
  const end = require('./ends.cjs').watch({ finish, uncaught });
  require('./crash.cjs').watch(end, () => ({ ...thrown, file: texts.row(thrown.fn)?.from.path }));
}

// What cannot be told, at the end of the program's stack, is a secret.
function sure(work, otherwise) {
  try {
    return quietly(work);
  } catch {
    return otherwise;
  }
}

function started(config) {
  const { threadId, isMainThread } = stream.place();
  const about = {
    pid: process.pid,
    ppid: process.ppid,
    language: 'javascript',
    runtime: `node ${process.versions.node}`,
    argv: [process.execPath, ...process.argv.slice(1)],
    cwd: process.cwd(),
    unix_ns: Math.floor(Date.now() * 1e6),
    ticks_ns: 1000,
    way: 'transform',
    level: config.auto ? (config.level === 1 ? 'calls' : 'auto') : 'lines',
  };
  if (!isMainThread) about.parent = `worker ${threadId} of ${process.pid}`;
  stream.json(0x01, about);
  stream.out.buf[stream.out.pos++] = 0x06;
  stream.u(0);
  stream.text(isMainThread ? 'main' : `worker ${threadId}`);
  if (process.env.NODE_V8_COVERAGE) note({ beside: 'coverage' });
  stream.flush();
}

function note(what) {
  stream.json(0x07, what);
}

// A function's row, with the number of its file, which is told before it.
const fileNumbers = table();
function row(id) {
  const found = texts.row(id);
  if (found === undefined) return undefined;
  return { ...found, file: () => fileNumber(found.from) };
}

function fileNumber(from) {
  let number = fileNumbers.get(from.path);
  if (number === undefined) {
    number = fileNumbers.held;
    fileNumbers.held += 1;
    fileNumbers.set(from.path, number);
    const { out, text, u } = stream;
    out.buf[out.pos++] = 0x03;
    text(from.path);
    const sha = from.sha ?? [];
    u(sha.length);
    for (const byte of sha) out.buf[out.pos++] = byte;
  }
  return number;
}

// The one name that instrumented texts know, where they run.
function offer(realm) {
  if (Object.prototype.hasOwnProperty.call(realm, '$hp')) return;
  Object.defineProperty(realm, '$hp', { value: probes, enumerable: false, writable: false, configurable: false });
}

module.exports = { begin };
