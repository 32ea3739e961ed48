import { runUntilStopped } from "@vidimus/kit/service/process";
import { readConfig } from "./config.ts";
import { startPhrases } from "./phrases.ts";

await runUntilStopped(async () => startPhrases(readConfig(process.env)));
