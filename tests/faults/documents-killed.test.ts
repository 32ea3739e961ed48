import { describeKills } from "../support/documents-killed.ts";

// Three kills; documents-killed.long.test.ts makes ten.
describeKills(3);
