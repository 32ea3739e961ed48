import { partitionSubjects, snapshotPartitions, snapshotSubjects } from "@vidimus/contracts/snapshot-subject";
import type { EventBus } from "@vidimus/kit/nats/event-bus";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { throttle } from "@vidimus/kit/telemetry/throttle";
import type { Ingest } from "./ingest-snapshots.ts";
import { parseReferences } from "../snapshots/references.ts";

interface ListenDeps {
  readonly bus: Pick<EventBus, "onBroadcast">;
  readonly ingest: Pick<Ingest, "ingest">;
  readonly isPreferredForPartition: (partition: number) => boolean;
  readonly isPreferredFor: (tenantId: string) => boolean;
  readonly log: Pick<Logger, "warn">;
}

const reportMs = 10_000;

/**
 * Ingests the snapshots that documents announces, of the tenants for which this replica is
 * preferred. Snapshots whose ingest fails, or whose message was lost, are left to the reconciler.
 *
 * Subscribes only to the preferred partitions, because ignoring a message costs as much as a short
 * call.
 *
 * @returns a function to call when this replica is preferred for other partitions than before
 */
export function listenForReferences(deps: ListenDeps): () => void {
  const { bus, ingest, isPreferredFor, log } = deps;
  const report = throttle<unknown>(reportMs, (error, suppressed) => {
    log.warn({ err: error, suppressed }, "snapshots are left to the reconciler");
  });
  const handle = (data: Uint8Array) => {
    const references = parseReferences(data).filter(({ tenantId }) => isPreferredFor(tenantId));
    if (references.length > 0) ingest.ingest(references).catch(report);
  };
  const subscriptions = new Map<string, Disposable>();
  const follow = () => {
    const wanted = subjectsOf(deps);
    for (const subject of wanted)
      if (!subscriptions.has(subject)) subscriptions.set(subject, bus.onBroadcast(subject, handle));
    for (const [subject, subscription] of subscriptions) {
      if (wanted.has(subject)) continue;
      subscription[Symbol.dispose]();
      subscriptions.delete(subject);
    }
  };
  follow();
  return follow;
}

/** A single replica subscribes to one wildcard instead of 64 subjects. */
function subjectsOf({ isPreferredForPartition }: ListenDeps): ReadonlySet<string> {
  const partitions = Array.from({ length: snapshotPartitions }, (_, partition) => partition);
  const preferred = partitions.filter(isPreferredForPartition);
  return new Set(preferred.length === snapshotPartitions ? [snapshotSubjects] : preferred.map(partitionSubjects));
}
