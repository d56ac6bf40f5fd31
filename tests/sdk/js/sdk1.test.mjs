// The first line of the official SDK, end to end.

import * as sdk from "./sdk1.mjs";
import { suite } from "./suite.mjs";

suite(sdk);
