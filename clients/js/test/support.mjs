// A server of a test's own, an agent at its MCP door and a person at its REST door.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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
