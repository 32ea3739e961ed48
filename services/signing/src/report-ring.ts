import type { Metrics } from "@vidimus/kit/telemetry/metrics";
import { Gauge } from "prom-client";

/** A look that cannot reach the database leaves the metric as it was. */
export function reportRing({ registry }: Pick<Metrics, "registry">, isUsable: () => boolean): void {
  const gauge: Gauge = new Gauge({
    name: "vidimus_key_ring_usable",
    help: "0 after the last look found the stored key ring unusable, else 1",
    registers: [registry],
    collect: () => gauge.set(isUsable() ? 1 : 0),
  });
}
