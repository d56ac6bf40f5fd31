// The client for `import`. What is required is the same: one client in one program.

import client from "./debug-client.cjs";

export const { withDebug, withDebugSync, debugCall, debugCallSync, configure, registerReplacement, flush } = client;
export { client as default, client as cideldill, client as holdpoint };
