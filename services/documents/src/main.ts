import { collectRarely } from "@vidimus/kit/tuning/collect-rarely";
import { runUntilStopped } from "@vidimus/kit/service/process";
import { readConfig } from "./config.ts";
import { startDocuments } from "./documents.ts";

collectRarely();
await runUntilStopped(async () => startDocuments(readConfig(process.env)));
