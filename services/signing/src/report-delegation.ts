import type { Metrics } from "@vidimus/kit/telemetry/metrics";
import { Gauge } from "prom-client";
import { delegationEnd } from "./domain/delegation.ts";

/** The metric has no value while no delegation is installed, and before the ring was read. */
export function reportDelegation({ registry }: Pick<Metrics, "registry">, delegation: () => string | undefined): void {
  const gauge: Gauge = new Gauge({
    name: "vidimus_trust_delegation_expiry_seconds",
    help: "When the delegation of the offline root to the list key ends, in seconds since 1970",
    registers: [registry],
    collect: () => {
      const end = delegationEnd(delegation() ?? "");
      if (end) gauge.set(end.getTime() / 1000);
      else gauge.remove();
    },
  });
}
