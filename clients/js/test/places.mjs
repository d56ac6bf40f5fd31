// Where an app with the client runs: a Node program and a page in a real browser. Each is a process of its own,
// started once and given scripts to run, one after the other; `client` is there.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Runs a script and says what came of it, as text: an answer goes by a message or a request.
const RUN = `
  const AsyncFunction = (async () => {}).constructor;
  async function answer({ script }) {
    try {
      // A callpoint that the test has set is known here before a call is made, and what was recorded is with the server
      // before the answer is with the test.
      await client.flush({ timeoutMs: 30_000 });
      const value = await new AsyncFunction("client", script)(client);
      await client.flush({ timeoutMs: 30_000 });
      return { value: value ?? null };
    } catch (error) {
      return { thrown: { name: error.name, message: error.message } };
    }
  }`;

export class Program {
  static async start(server) {
    const program = new Program();
    const client = JSON.stringify(new URL("../debug-client.js", import.meta.url).href);
    const source = `import * as client from ${client};
      client.configure({ serverUrl: ${JSON.stringify(server.url)} });
      client.withDebug("ON");
      ${RUN}
      process.on("message", async (request) => process.send(await answer(request)));`;
    const stdio = ["ignore", "inherit", "inherit", "ipc"];
    program.process = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio });
    return program;
  }

  run(script) {
    return new Promise((done, failed) => {
      const ended = (code) => failed(new Error(`the program ended with ${code}`));
      this.process.once("message", (answer) => {
        this.process.off("exit", ended);
        done(answer);
      });
      this.process.once("exit", ended);
      this.process.send({ script });
    });
  }

  async close() {
    if (this.process.exitCode !== null) return;
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.kill("SIGKILL");
    await ended;
  }
}

// On another port than the server that it takes the client from.
export class Page {
  #asked = [];
  #waiting = null;
  #answered = null;

  static async start(server) {
    const page = new Page();
    page.site = createServer((request, response) => page.#serve(server, request, response));
    await new Promise((ready) => page.site.listen(0, "127.0.0.1", ready));
    page.address = `http://localhost:${page.site.address().port}/`;
    page.profile = mkdtempSync(join(tmpdir(), "holdpoint-page-"));
    const options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"];
    page.browser = spawn(
      process.env.HOLDPOINT_CHROMIUM ?? "chromium",
      [...options, `--user-data-dir=${page.profile}`, page.address],
      // A group of its own, and a pipe that every process of it holds: it closes with the last of them.
      { detached: true, stdio: ["ignore", "ignore", "pipe"] },
    );
    page.browser.stderr.resume();
    page.closed = new Promise((done) => page.browser.on("close", done));
    return page;
  }

  async #serve(server, request, response) {
    if (request.url === "/next") {
      this.#waiting = response;
      return this.#next();
    }
    if (request.url === "/answer") {
      const parts = [];
      for await (const part of request) parts.push(part);
      response.end();
      return this.#answered?.(JSON.parse(Buffer.concat(parts)));
    }
    response.setHeader("Content-Type", "text/html").end(`<!doctype html><title>shop</title><script type="module">
      const client = await import("${server.url}/api/debug-client.js");
      client.withDebug("ON");
      ${RUN}
      for (;;) {
        const request = await (await fetch("/next")).json();
        await fetch("/answer", { method: "POST", body: JSON.stringify(await answer(request)) });
      }
    </script>`);
  }

  #next() {
    if (this.#waiting && this.#asked.length) {
      this.#waiting.end(JSON.stringify(this.#asked.shift()));
      this.#waiting = null;
    }
  }

  run(script) {
    const answered = new Promise((done) => { this.#answered = done; });
    this.#asked.push({ script });
    this.#next();
    const gone = this.closed.then(() => { throw new Error("the browser ended before the page answered"); });
    return Promise.race([answered, gone]);
  }

  // The browser's helpers write into the profile until they end, so all are ended first.
  async close() {
    if (this.browser.exitCode === null) process.kill(-this.browser.pid, "SIGKILL");
    await this.closed;
    this.site.closeAllConnections();
    this.site.close();
    rmSync(this.profile, { recursive: true, force: true });
  }
}
