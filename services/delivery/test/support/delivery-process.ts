import { runUntilStopped } from "@vidimus/kit/service/process";
import type { DeliveryConfig } from "../../src/config.ts";
import { createSecretKey } from "node:crypto";
import { startDelivery } from "../../src/delivery.ts";

/** Runs delivery with the configuration that its argument has as JSON. */
await runUntilStopped(() => {
  const { kek, ...config } = JSON.parse(process.argv[2] ?? "") as Omit<DeliveryConfig, "kek"> & { kek: string };
  return startDelivery({ ...config, kek: createSecretKey(kek, "base64") });
});
