import { runUntilStopped } from "@vidimus/kit/service/process";
import type { DeliveryConfig } from "../../src/config.ts";
import { startDelivery } from "../../src/delivery.ts";

/** Runs delivery with the configuration that its argument has as JSON. */
await runUntilStopped(() => startDelivery(JSON.parse(process.argv[2] ?? "") as DeliveryConfig));
