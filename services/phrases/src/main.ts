import { runUntilStopped } from "@vidimus/kit/service/process";
import { releasePages } from "@vidimus/kit/tuning/release-pages";
import { readConfig } from "./config.ts";
import { startPhrases } from "./phrases.ts";

releasePages();
await runUntilStopped(async () => startPhrases(readConfig(process.env)));
