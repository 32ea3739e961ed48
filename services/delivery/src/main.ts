import { runUntilStopped } from "@vidimus/kit/service/process";
import { readConfig } from "./config.ts";
import { startDelivery } from "./delivery.ts";

await runUntilStopped(async () => startDelivery(readConfig(process.env)));
