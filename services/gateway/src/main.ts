import { runUntilStopped } from "@vidimus/kit/service/process";
import { readConfig } from "./config.ts";
import { startGateway } from "./gateway.ts";

await runUntilStopped(async () => startGateway(readConfig(process.env)));
