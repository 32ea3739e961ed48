import type { StreamSpec } from "@vidimus/kit/nats/event-bus";

/**
 * Where references to new snapshots are announced. Delivery names the same stream and reads it in
 * `ingest/consume-references.ts`.
 */
export const snapshotStream: StreamSpec = {
  name: "VIDIMUS_SNAPSHOTS",
  subjects: ["vidimus.snapshots.v1"],
  ageMsMax: 24 * 60 * 60 * 1000,
};

/** The stream's one subject. */
export const snapshotSubject = "vidimus.snapshots.v1";
