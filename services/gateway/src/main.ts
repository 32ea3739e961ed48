import { collectRarely } from "@vidimus/kit/tuning/collect-rarely";
import { runUntilStopped } from "@vidimus/kit/service/process";
import { readConfig } from "./config.ts";
import { startGateway } from "./gateway.ts";

collectRarely();
await runUntilStopped(async () => startGateway(readConfig(process.env)));
