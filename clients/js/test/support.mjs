// A server of a test's own, an agent at its MCP door and a person at its REST door.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request as forward } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const BIN = process.env.HOLDPOINT_BIN ?? new URL("../../../target/debug/holdpoint", import.meta.url).pathname;
const PATIENCE_MS = 30_000;

export async function until(what, look) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

export class Server {
  static async start(...options) {
    const server = new Server();
    server.home = mkdtempSync(join(tmpdir(), "holdpoint-js-"));
    const env = { ...process.env, HOME: server.home, HOLDPOINT_HOME: server.home };
    server.process = spawn(BIN, ["serve", "--port", "0", ...options], { env, stdio: ["ignore", "ignore", "inherit"] });
    const file = join(server.home, "port");
    const port = await until("the server's port", () => {
      try {
        return Number(readFileSync(file, "utf8"));
      } catch {
        return null;
      }
    });
    server.url = `http://localhost:${port}`;
    return server;
  }

  stop() {
    this.process.kill("SIGKILL");
    rmSync(this.home, { recursive: true, force: true });
  }

  async rest(method, path, body) {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    return response.json();
  }

  // One call of a tool, as a stateless client makes it; the JSON that its text holds.
  async tool(name, args = {}) {
    const params = {
      name,
      arguments: args,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    };
    const response = await fetch(`${this.url}/mcp`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    const text = await response.text();
    const line = text.split("\n").find((it) => it.startsWith("data: ") && it.includes('"result"'));
    const message = JSON.parse(line ? line.slice(6) : text);
    if (!message.result) throw new Error(`${name}: ${text}`);
    return JSON.parse(message.result.content[0].text);
  }

  // The pause of a call of this name.
  paused(name) {
    return until(`a pause of ${name}`, async () => {
      const { paused } = await this.rest("GET", "/api/paused");
      return paused.find((pause) => pause.call_data.method_name === name);
    });
  }

  // A person at the REPL of a pause.
  async evaluate(pause, expr) {
    const { session_id } = await this.rest("POST", "/api/repl/start", { pause_id: pause.id });
    return this.rest("POST", `/api/repl/${session_id}/eval`, { expr });
  }

  // The records of a function, newest first.
  async records(name) {
    return (await this.tool("breakpoint_get_call_records", { function_name: name, full: true })).calls;
  }

  resume(pause, body) {
    return this.rest("POST", `/api/paused/${pause.id}/continue`, body);
  }
}

// Between an app and its server: hears every request, and can answer one itself.
export class Between {
  requests = [];
  // `(path) => answer as text`, or undefined to pass it on.
  instead = () => undefined;

  static async start(server) {
    const between = new Between();
    between.server = server;
    between.http = createServer((request, response) => void between.#pass(request, response));
    await new Promise((ready) => between.http.listen(0, "127.0.0.1", ready));
    between.url = `http://127.0.0.1:${between.http.address().port}`;
    return between;
  }

  async #pass(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const [path] = request.url.split("?");
    this.requests.push({ path, body: body.length ? JSON.parse(body) : null });
    const own = this.instead(path);
    if (own !== undefined) return void response.setHeader("Content-Type", "application/json").end(own);
    const { method, headers } = request;
    const onward = forward(this.server.url + request.url, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.end(body);
  }

  of(path) {
    return this.requests.filter((request) => request.path === path);
  }

  stop() {
    this.http.closeAllConnections();
    this.http.close();
  }
}

// A program of its own, to its end.
export function program(source, { env = {}, type = "module", cwd } = {}) {
  const { PATH } = process.env;
  const options = { env: { PATH, ...env }, cwd, stdio: ["pipe", "pipe", "pipe"] };
  const child = spawn(process.execPath, [`--input-type=${type}`, "-e", source], options);
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (data) => { said.stdout += data; });
  child.stderr.on("data", (data) => { said.stderr += data; });
  child.stdin.on("error", () => {});
  const ended = new Promise((done) => child.on("close", (code, signal) => done({ code, signal, ...said })));
  return Object.assign(ended, { child, said });
}
