import { runUntilStopped } from "@vidimus/kit/service/process";
import { readConfig } from "./config.ts";
import { startSigning } from "./signing.ts";

await runUntilStopped(async () => startSigning(readConfig(process.env)));
