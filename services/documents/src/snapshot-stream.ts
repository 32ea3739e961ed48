import { snapshotSubjects } from "@vidimus/contracts/snapshot-subject";
import type { StreamSpec } from "@vidimus/kit/nats/event-bus";

const daysMax = 7;
const gibibyte = 1024 ** 3;

/** The stream that keeps references to snapshots for internal teams. No service reads it. */
export function snapshotStream(replicas: number): StreamSpec {
  return {
    name: "VIDIMUS_SNAPSHOTS",
    subjects: [snapshotSubjects],
    ageMsMax: daysMax * 24 * 60 * 60 * 1000,
    bytesMax: gibibyte,
    replicas,
  };
}
