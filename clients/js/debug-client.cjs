// The client for `require`. What is imported is the same: one client in one program.
"use strict";

module.exports = require("./debug-client/client.cjs");
