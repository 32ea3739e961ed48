import { describeKills } from "../support/documents-killed.ts";

describeKills(10);
