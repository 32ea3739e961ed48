import type { Metrics } from "@vidimus/kit/telemetry/metrics";
import { Gauge } from "prom-client";

/** The metric has no value while no key signs, as during a pause, and before the ring was read. */
export function reportKeyAge({ registry }: Pick<Metrics, "registry">, activeSince: () => Date | undefined): void {
  const gauge: Gauge = new Gauge({
    name: "vidimus_signing_key_age_seconds",
    help: "How long the active key has signed",
    registers: [registry],
    collect: () => {
      const since = activeSince();
      if (since) gauge.set((Date.now() - since.getTime()) / 1000);
      else gauge.remove();
    },
  });
}
