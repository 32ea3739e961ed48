import type { StreamSpec } from "@vidimus/kit/event-bus";

/** Where documents announces references to new snapshots; it names the same stream. */
export const snapshotStream: StreamSpec = {
  name: "VIDIMUS_SNAPSHOTS",
  subjects: ["vidimus.snapshots.v1"],
  ageMsMax: 24 * 60 * 60 * 1000,
};
