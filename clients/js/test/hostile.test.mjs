// Whatever the environment says and whatever is missing: the program runs as it would without us.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { program, Server } from "./support.mjs";

const CLIENT = JSON.stringify(new URL("../debug-client.js", import.meta.url).href);
const SELL = `
  import { debugCall, debugCallSync, withDebug } from ${CLIENT};
  withDebug("ON");
  console.log(await debugCall("charge", (n) => n, 1), debugCallSync("charge", (n) => n, 2));`;
let server;
let home;
before(async () => {
  server = await Server.start();
  home = mkdtempSync(join(tmpdir(), "holdpoint-hostile-"));
});
after(() => {
  server.stop();
  rmSync(home, { recursive: true, force: true });
});

async function sold(env, source = SELL) {
  const { code, stdout, stderr } = await program(source, { env: { HOME: home, ...env } });
  assert.deepEqual([code, stdout], [0, "1 2\n"], stderr);
  return stderr;
}

const WRONG = ["http://[::1", "5174", "http://", "://", " ", "http://127.0.0.1:99999", "ftp://localhost", "http://localhost:1\nx", "\u{1F600}", "http://a b"];
for (const url of WRONG) {
  test(`a wrong address is said once: ${JSON.stringify(url)}`, async () => {
    const stderr = await sold({ HOLDPOINT_URL: url });
    assert.equal(stderr.match(/^holdpoint: /gm)?.length, 1, stderr);
    assert.match(stderr, /calls run on without it\n$/);
  });
}

for (const text of ["", "garbage", "-5", "99999999999999999", "0", "12 34", "1.5", "\0\0"]) {
  test(`a port file may hold anything: ${JSON.stringify(text)}`, async () => {
    const folder = mkdtempSync(join(home, "home-"));
    writeFileSync(join(folder, "port"), text);
    // It looks at the usual port then, where nobody or somebody may be.
    await sold({ HOLDPOINT_HOME: folder, CIDELDILL_HOME: folder });
  });
}

test("a port file that is none holds nothing up", async () => {
  const folder = mkdtempSync(join(home, "none-"));
  mkdirSync(join(folder, "folder", "port"), { recursive: true });
  mkdirSync(join(folder, "pipe"));
  execFileSync("mkfifo", [join(folder, "pipe", "port")]);
  for (const kind of ["folder", "pipe"]) await sold({ HOLDPOINT_HOME: join(folder, kind), CIDELDILL_HOME: folder });
});

test("a token of several lines is one header", async () => {
  const seen = new Set();
  const listens = createHttpServer(({ headers }, response) => {
    seen.add(`${headers.authorization}, ${headers.x}`);
    response.end("{}");
  });
  await new Promise((ready) => listens.listen(0, "127.0.0.1", ready));
  try {
    await sold({ HOLDPOINT_URL: `http://127.0.0.1:${listens.address().port}`, HOLDPOINT_TOKEN: "a\r\nX: y" });
    assert.deepEqual([...seen], ["Bearer a X: y, undefined"]);
  } finally {
    listens.closeAllConnections();
    listens.close();
  }
});

test("a server that accepts and says nothing delays a program by seconds, not for ever", async () => {
  const silent = createServer(() => {});
  await new Promise((ready) => silent.listen(0, "127.0.0.1", ready));
  try {
    const stderr = await sold({ HOLDPOINT_URL: `http://127.0.0.1:${silent.address().port}` });
    assert.match(stderr, /does not answer \(no answer in time\)/);
  } finally {
    silent.close();
  }
});

const WORLDS = {
  "a frozen Error": "Object.freeze(Error); Object.freeze(Function.prototype);",
  "stacks of another kind": "Error.prepareStackTrace = (_, frames) => frames;",
  "stacks that throw": "Error.prepareStackTrace = () => { throw new Error('no stacks'); };",
  "a console that throws": "console.warn = () => { throw new Error('no console'); };",
  "no console at all": "const { log } = console; globalThis.console = { log };",
  "clocks that stand": "globalThis.setTimeout = () => 0; globalThis.setImmediate = () => 0; Date.now = () => 0;",
  "a fetch that fails": "globalThis.fetch = () => { throw new Error('no fetch'); };",
  "a folder that is gone": "const { mkdtempSync, rmdirSync } = await import('node:fs'); process.chdir(mkdtempSync('/tmp/gone-')); rmdirSync(process.cwd());",
  "toJSON of everything": "Object.prototype.toJSON = () => { throw new Error('no JSON'); };",
  "a name for every key": "for (const key of ['thrown', 'failed', 'post', 'asks', 'error', 'text', 'replacement', 'action', 'taken']) Object.prototype[key] = 1;",
};
for (const [what, made] of Object.entries(WORLDS)) {
  for (const [where, url] of [["with a server", () => server.url], ["without one", () => "http://127.0.0.1:1"]]) {
    // Node itself makes a stack of a refused connection, and ends by it.
    if (what === "stacks that throw" && where === "without one") continue;
    test(`${what}, ${where}`, async () => {
      const late = `${made}\nconst { debugCall, debugCallSync, withDebug } = await import(${CLIENT});`;
      await sold({ HOLDPOINT_URL: url() }, SELL.replace(/^.*import .*\n/m, `${late}\n`).trimStart());
      const early = SELL.replace('withDebug("ON");', `${made}\n withDebug("ON");`);
      await sold({ HOLDPOINT_URL: url() }, early);
    });
  }
}

test("what is thrown at the deepest call is the app's own", async () => {
  const source = `
    import { debugCallSync, withDebug } from ${CLIENT};
    withDebug("ON");
    const down = (n) => debugCallSync("down", down, n + 1);
    try { down(0); } catch (error) { console.log(error instanceof RangeError ? "1 2" : error); }`;
  await sold({ HOLDPOINT_URL: server.url }, source);
});
