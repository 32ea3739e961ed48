import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { snapshotSubject, snapshotSubjects } from "@vidimus/contracts/snapshot-subject";
import { SnapshotReferencesSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import type { EventBus } from "@vidimus/kit/nats/event-bus";
import type { AnnouncedSnapshot } from "./domain/snapshots/snapshot-feed.ts";

/**
 * Announces the snapshots of a transaction in one message, without waiting for the broker. Delivery
 * also lists the pending snapshots, so it finds those whose announcement was lost.
 */
export function announceSnapshots(
  bus: Pick<EventBus, "broadcast">,
): (tenantId: string, snapshots: readonly AnnouncedSnapshot[]) => void {
  return (tenantId, snapshots) => {
    const references = snapshots.map(({ documentId, sequence, type, traceparent = "" }) => {
      return { tenantId, documentId, sequence: BigInt(sequence), type, traceparent };
    });
    const message = create(SnapshotReferencesSchema, { references });
    bus.broadcast(snapshotSubject(tenantId), toBinary(SnapshotReferencesSchema, message));
  };
}

/**
 * Calls `onSnapshot` for snapshots that any process announces. Announcements can be lost, so
 * `ChangeSignal` also polls.
 */
export function subscribeSnapshots(
  bus: Pick<EventBus, "onBroadcast">,
  onSnapshot: (tenantId: string, type: string) => void,
): void {
  bus.onBroadcast(snapshotSubjects, (data) => {
    const { references } = fromBinary(SnapshotReferencesSchema, data);
    if (references.length === 0) throw new RangeError("a message about snapshots names none");
    for (const { tenantId, type } of references) onSnapshot(tenantId, type);
  });
}
