import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { SnapshotReferenceSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import type { EventBus } from "@vidimus/kit/nats/event-bus";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { AnnouncedSnapshot } from "./domain/snapshots/snapshot-feed.ts";
import { snapshotStream, snapshotSubject } from "./snapshot-stream.ts";

/**
 * Announces snapshots to delivery, without waiting for the broker. Delivery also lists the pending
 * snapshots, so it finds those whose announcement was lost.
 */
export function announceSnapshots(bus: Pick<EventBus, "publish">, log: Logger): (snapshot: AnnouncedSnapshot) => void {
  return ({ tenantId, documentId, sequence, type }) => {
    const reference = create(SnapshotReferenceSchema, { tenantId, documentId, sequence: BigInt(sequence), type });
    const messageId = `${tenantId}.${documentId}.${sequence}`;
    const bytes = toBinary(SnapshotReferenceSchema, reference);
    bus.publish(snapshotStream, snapshotSubject, bytes, messageId).catch((error: unknown) => {
      log.debug({ err: error, messageId }, "snapshot not announced");
    });
  };
}

/**
 * Calls `onSnapshot` for snapshots that any process announces. Announcements can be lost:
 * `ChangeSignal` also polls.
 */
export function subscribeSnapshots(
  bus: Pick<EventBus, "onBroadcast">,
  onSnapshot: (snapshot: AnnouncedSnapshot) => void,
): void {
  bus.onBroadcast(snapshotSubject, (data) => {
    const { tenantId, documentId, sequence, type } = fromBinary(SnapshotReferenceSchema, data);
    onSnapshot({ tenantId, documentId, sequence: Number(sequence), type });
  });
}
