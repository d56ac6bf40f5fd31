// A client that is killed in the middle of a call: `victim.mjs SDK HOME TRANSPORT REVISION [OPTION]…`.

import { Server, TALKATIVE, Way } from "./support.mjs";

const [, , sdkName, home, transport, revision, ...options] = process.argv;
const sdk = await import(`./${sdkName}.mjs`);
const server = new Server({ home, options, log: TALKATIVE });
const client = await server.connect(sdk, new Way(transport, revision), "victim");
await client.watch("holdpoint://timeline");
client.call("timeline_query", { since: 1000, timeout_s: 600 }, { timeout: 600_000 });
console.log((await client.status()).pid);
