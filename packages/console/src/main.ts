import { runUntilStopped } from "@vidimus/kit/service/process";
import { readConfig } from "./config.ts";
import { startConsole } from "./console.ts";

await runUntilStopped(async () => startConsole(readConfig(process.env)));
