import type { StreamSpec } from "@vidimus/kit/event-bus";

/** Where references to new snapshots are announced; delivery names the same stream. */
export const snapshotStream: StreamSpec = {
  name: "VIDIMUS_SNAPSHOTS",
  subjects: ["vidimus.snapshots.v1"],
  ageMsMax: 24 * 60 * 60 * 1000,
};

/** The stream's one subject. */
export const snapshotSubject = "vidimus.snapshots.v1";
