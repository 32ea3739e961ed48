import type { Metrics } from "@vidimus/kit/telemetry/metrics";
import { Gauge } from "prom-client";

/**
 * `vidimus_signing_key_age_seconds`: how long the active key has signed. Without an active key, and
 * before the ring was read, it has no value.
 */
export function reportKeyAge({ registry }: Pick<Metrics, "registry">, activeSince: () => Date | undefined): void {
  const gauge: Gauge = new Gauge({
    name: "vidimus_signing_key_age_seconds",
    help: "How long the active key has signed",
    registers: [registry],
    collect: () => {
      const since = activeSince();
      if (since) gauge.set((Date.now() - since.getTime()) / 1000);
      else gauge.reset();
    },
  });
}
