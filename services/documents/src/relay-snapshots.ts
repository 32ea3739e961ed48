import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { SnapshotReferenceSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import type { EventBus } from "@vidimus/kit/event-bus";
import type { Logger } from "@vidimus/kit/log";
import type { SnapshotKey } from "./domain/publication/snapshot-feed.ts";
import { snapshotStream, snapshotSubject } from "./snapshot-stream.ts";

/**
 * Announces snapshots to delivery, and waits for nothing: what the broker does not take, delivery finds on its walk
 * through the pending snapshots.
 */
export function relaySnapshots(bus: Pick<EventBus, "publish">, log: Logger): (snapshot: SnapshotKey) => void {
  return ({ tenantId, documentId, sequence }) => {
    const reference = create(SnapshotReferenceSchema, { tenantId, documentId, sequence: BigInt(sequence) });
    const messageId = `${tenantId}.${documentId}.${sequence}`;
    const bytes = toBinary(SnapshotReferenceSchema, reference);
    bus.publish(snapshotStream, snapshotSubject, bytes, messageId).catch((error: unknown) => {
      log.debug({ err: error, messageId }, "snapshot not announced");
    });
  };
}

/** Hears of snapshots that any process announces. Some may be lost: whoever relies on them looks again now and then. */
export function hearSnapshots(bus: Pick<EventBus, "onBroadcast">, heard: (snapshot: SnapshotKey) => void): void {
  bus.onBroadcast(snapshotSubject, (data) => {
    const { tenantId, documentId, sequence } = fromBinary(SnapshotReferenceSchema, data);
    heard({ tenantId, documentId, sequence: Number(sequence) });
  });
}
