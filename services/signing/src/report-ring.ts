import type { Metrics } from "@vidimus/kit/telemetry/metrics";
import { Gauge } from "prom-client";

/** `vidimus_key_ring_usable`: 1 while the last look could read and verify the key ring, else 0. */
export function reportRing({ registry }: Pick<Metrics, "registry">, isUsable: () => boolean): void {
  const gauge: Gauge = new Gauge({
    name: "vidimus_key_ring_usable",
    help: "1 while the stored key ring can be read and verified, else 0",
    registers: [registry],
    collect: () => gauge.set(isUsable() ? 1 : 0),
  });
}
