import type { Metrics } from "@vidimus/kit/telemetry/metrics";
import { Gauge } from "prom-client";
import type { CheckedClock } from "./domain/checked-clock.ts";

export function reportClock({ registry }: Pick<Metrics, "registry">, clock: Pick<CheckedClock, "offsetMs">): void {
  const gauge: Gauge = new Gauge({
    name: "vidimus_signing_clock_offset_seconds",
    help: "How far the clock of this process is ahead of the database's; beyond 60 s either way it does not sign",
    registers: [registry],
    collect: () => {
      const offsetMs = clock.offsetMs();
      if (offsetMs === undefined) gauge.remove();
      else gauge.set(offsetMs / 1000);
    },
  });
}
