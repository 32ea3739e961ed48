import { describeKills } from "../support/documents-killed.ts";

// Ten times: documents-killed.long.test.ts.
describeKills(3);
