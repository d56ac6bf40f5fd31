// How npm `@modelcontextprotocol/client` 2.x does it: both eras, and in each its own way to watch.

import assert from "node:assert/strict";

import {
  Client,
  SSEClientTransport as Sse,
  StreamableHTTPClientTransport as Http,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio } from "@modelcontextprotocol/client/stdio";

import { HANDSHAKE, Inbox, Peer, STATELESS, makeTransport } from "./support.mjs";

export const name = "client2";
export const revisions = [HANDSHAKE, STATELESS];

export function checkResourceNotFound(error, uri, way) {
  assert.equal(error.code, -32602);
  // Of the older revisions' error this SDK makes one of its own, which keeps the URI only.
  if (way.revision === HANDSHAKE) assert.deepEqual(error.data, { uri });
  else assert.match(error.data.hint, /holdpoint:\/\/timeline/);
}

class Peer2 extends Peer {
  get protocol() {
    return this.client.getNegotiatedProtocolVersion();
  }

  callTool(params, options) {
    return this.client.callTool(params, options);
  }

  async watch(uri) {
    if (this.way.revision === HANDSHAKE) {
      await this.client.subscribeResource({ uri });
      return () => this.client.unsubscribeResource({ uri });
    }
    const subscription = await this.client.listen({ resourceSubscriptions: [uri] });
    assert.deepEqual(subscription.honoredFilter, { resourceSubscriptions: [uri] });
    return () => this.end(subscription);
  }

  /** The farewell of a subscription over HTTP is a test of its own; here it is not counted against the server. */
  async end(subscription) {
    const faults = [...this.inbox.faults];
    await subscription.close();
    this.inbox.faults = faults;
  }
}

export async function open(server, way, clientName) {
  // The default is the handshake. With `auto` over stdio the SDK first asks a second process of the same command.
  const options = way.revision === STATELESS ? { versionNegotiation: { mode: "auto" } } : {};
  const client = new Client({ name: clientName, version: "1" }, options);
  const transport = await makeTransport({ Stdio, Sse, Http }, server, way);
  return new Peer2(client, transport, way, new Inbox()).connect(server);
}
