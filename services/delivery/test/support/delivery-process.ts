import { runUntilStopped } from "@vidimus/kit/process";
import type { DeliveryConfig } from "../../src/config.ts";
import { startDelivery } from "../../src/delivery.ts";

/** A delivery service with the configuration it is given as its argument. */
await runUntilStopped(() => startDelivery(JSON.parse(process.argv[2] ?? "") as DeliveryConfig));
