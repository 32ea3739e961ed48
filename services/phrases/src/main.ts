import { collectRarely } from "@vidimus/kit/service/collect-rarely";
import { runUntilStopped } from "@vidimus/kit/service/process";
import { readConfig } from "./config.ts";
import { startPhrases } from "./phrases.ts";

collectRarely();
await runUntilStopped(async () => startPhrases(readConfig(process.env)));
