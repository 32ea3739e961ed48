import type { StreamSpec } from "@vidimus/kit/nats/event-bus";

/**
 * The stream to which documents publishes references of new snapshots, in its
 * `announce-snapshots.ts`. documents defines the same stream.
 */
export const snapshotStream: StreamSpec = {
  name: "VIDIMUS_SNAPSHOTS",
  subjects: ["vidimus.snapshots.v1"],
  ageMsMax: 24 * 60 * 60 * 1000,
};
