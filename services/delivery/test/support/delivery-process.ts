import { runUntilStopped } from "@vidimus/kit/service/process";
import type { DeliveryConfig } from "../../src/config.ts";
import { createSecretKey } from "node:crypto";
import { startDelivery } from "../../src/delivery.ts";

/** Started by `openDeliveryProcess`. Its argument is the config as JSON, with KEKs in base64. */
await runUntilStopped(() => {
  const { kek, otherKek, ...config } = JSON.parse(process.argv[2] ?? "") as Given;
  const other = otherKek === undefined ? {} : { otherKek: createSecretKey(otherKek, "base64") };
  return startDelivery({ ...config, kek: createSecretKey(kek, "base64"), ...other });
});

type Given = Omit<DeliveryConfig, "kek" | "otherKek"> & { kek: string; otherKek?: string };
