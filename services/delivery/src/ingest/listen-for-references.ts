import { snapshotSubjects } from "@vidimus/contracts/snapshot-subject";
import type { EventBus } from "@vidimus/kit/nats/event-bus";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { throttle } from "@vidimus/kit/telemetry/throttle";
import type { Ingest } from "./ingest-snapshots.ts";
import { parseReferences } from "./references.ts";

interface ListenDeps {
  readonly bus: Pick<EventBus, "onBroadcast">;
  readonly ingest: Pick<Ingest, "ingest">;
  /** Whether this replica is preferred for a tenant. */
  readonly isPreferredFor: (tenantId: string) => boolean;
  readonly log: Pick<Logger, "warn">;
}

const reportMs = 10_000;

/**
 * Takes in the snapshots that documents announces, of the tenants that this replica is preferred
 * for. A message only wakes: what fails, and what no message told of, is left to the reconciler.
 */
export function listenForReferences({ bus, ingest, isPreferredFor, log }: ListenDeps): void {
  const report = throttle<unknown>(reportMs, (error, suppressed) => {
    log.warn({ err: error, suppressed }, "snapshots are left to the reconciler");
  });
  bus.onBroadcast(snapshotSubjects, (data) => {
    const references = parseReferences(data).filter(({ tenantId }) => isPreferredFor(tenantId));
    if (references.length > 0) ingest.ingest(references).catch(report);
  });
}
