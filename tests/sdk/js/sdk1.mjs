// How npm `@modelcontextprotocol/sdk` 1.x does it: handshake revisions only.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as Sse } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as Stdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { HANDSHAKE, Inbox, Peer, makeTransport } from "./support.mjs";

export const name = "sdk1";
export const revisions = [HANDSHAKE];

export function checkResourceNotFound(error) {
  assert.equal(error.code, -32002);
  assert.match(error.data.hint, /holdpoint:\/\/timeline/);
}

class Peer1 extends Peer {
  constructor(client, transport, way, inbox) {
    super(client, transport, way, inbox);
    // This SDK tells the negotiated revision to the transport only.
    const tell = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (version) => {
      this.protocol = version;
      tell?.(version);
    };
  }

  callTool(params, options) {
    return this.client.callTool(params, undefined, options);
  }

  async watch(uri) {
    await this.client.subscribeResource({ uri });
    return () => this.client.unsubscribeResource({ uri });
  }
}

export async function open(server, way, clientName) {
  const client = new Client({ name: clientName, version: "1" });
  const transport = await makeTransport({ Stdio, Sse, Http }, server, way);
  return new Peer1(client, transport, way, new Inbox()).connect(server);
}
