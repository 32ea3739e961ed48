import type { Logger } from "@vidimus/kit/telemetry/log";
import { Gauge, type Registry } from "prom-client";
import type { UnopenedEndpoints } from "./store/unopened-endpoints.ts";

/**
 * Logs when the secret or headers of an endpoint cannot be decrypted, and when they can be
 * decrypted again or the endpoint is deleted.
 */
export function reportUnopened(unopened: UnopenedEndpoints, registry: Registry, log: Logger): void {
  unopened.onChange(({ tenantId: tenant, endpointId, why }) => {
    if (why === undefined) log.info({ tenant, endpointId }, "the endpoint can be opened again, or is deleted");
    else log.error({ tenant, endpointId, why }, "the endpoint cannot be opened, so nothing is sent to it");
  });
  const gauge: Gauge = new Gauge({
    name: "vidimus_delivery_unopened_endpoints",
    help: "Endpoints whose secret or headers could not be opened when this process last read them",
    registers: [registry],
    collect: () => gauge.set(unopened.count),
  });
}
