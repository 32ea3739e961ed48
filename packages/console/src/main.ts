import { runUntilStopped } from "@vidimus/kit/service/process";
import { keepMemorySmall } from "@vidimus/kit/tuning/keep-memory-small";
import { readConfig } from "./config.ts";
import { startConsole } from "./console.ts";

keepMemorySmall();
await runUntilStopped(async () => startConsole(readConfig(process.env)));
