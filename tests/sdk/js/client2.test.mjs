// The second line of the official SDK, end to end: in its default mode, and negotiating 2026-07-28.

import * as sdk from "./client2.mjs";
import { suite } from "./suite.mjs";

suite(sdk);
