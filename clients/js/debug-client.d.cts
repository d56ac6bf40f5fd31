// The same for `require`.

import type { Client } from "./debug-client.js" with { "resolution-mode": "import" };

declare const client: Client;
export = client;
