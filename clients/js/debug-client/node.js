// What only Node has: the port file, and requests that block the thread as a synchronous call must.

import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { MessageChannel, Worker, receiveMessageOnPort, threadId } from "node:worker_threads";

// The number of the call that is not inside another, in whatever it starts and awaits.
const inside = new AsyncLocalStorage();
let lastTask = 0;

export const currentTask = () => ({ thread_id: threadId, task: inside.getStore() ?? (lastTask += 1) });

export const runInTask = ({ task }, work) => inside.run(task, work);

export function address() {
  const { env } = process;
  const named = env.HOLDPOINT_URL ?? env.CIDELDILL_SERVER_URL;
  if (named) return named;
  const files = [
    env.CIDELDILL_PORT_FILE,
    join(env.HOLDPOINT_HOME ?? join(homedir(), ".holdpoint"), "port"),
    join(env.CIDELDILL_HOME ?? join(homedir(), ".cideldill"), "port"),
  ];
  for (const file of files) {
    const port = file && readPort(file);
    if (port) return `http://localhost:${port}`;
  }
  return undefined;
}

export const token = () => process.env.HOLDPOINT_TOKEN;

function readPort(file) {
  try {
    return Number.parseInt(readFileSync(file, "utf8"), 10) || null;
  } catch {
    return null;
  }
}

// A thread of its own makes the request while this one sleeps on a shared number.
export function syncRequests() {
  const source = `
    const { parentPort } = require("node:worker_threads");
    parentPort.on("message", async ({ port, flag, method, url, headers, body, patience }) => {
      let answer;
      try {
        const response = await fetch(url, { method, body, headers, signal: AbortSignal.timeout(patience) });
        answer = { status: response.status, text: await response.text() };
      } catch (error) {
        answer = { error: String(error?.cause?.message ?? error?.message ?? error) };
      }
      port.postMessage(answer);
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
    });`;
  const worker = new Worker(source, { eval: true, execArgv: [], env: { ...process.env, NODE_OPTIONS: "" } });
  // It must not keep the program alive.
  worker.unref();
  return (method, url, headers, body, patience) => {
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({ port: port2, flag, method, url, headers, body, patience }, [port2]);
    const woken = Atomics.wait(flag, 0, 0, patience + 1_000);
    const answer = woken === "timed-out" ? null : receiveMessageOnPort(port1)?.message;
    port1.close();
    if (!answer || answer.error) throw new Error(answer?.error ?? "no answer in time");
    return answer;
  };
}
