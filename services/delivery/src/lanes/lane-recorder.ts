import { createBatcher } from "@vidimus/kit/queues/batcher";
import type { Journaled, LaneJournal } from "../store/lane-journal.ts";
import type { LaneRecord } from "../store/lane-records.ts";

/**
 * Least time between two batches of records that leave their lanes without rows, unless a batch is
 * full. No next row waits for such a record, so the batches may grow meanwhile.
 */
const endedSpacingMs = 25;

export function createRecorder(journal: Pick<LaneJournal, "record">): (record: LaneRecord) => Promise<Journaled> {
  return createBatcher<LaneRecord, Journaled>({
    itemsMax: 256,
    inFlightMax: 2,
    laneOf: ({ step }) => (step.next === "empty" ? "ended" : "going on"),
    spacingMsOf: (kind) => (kind === "ended" ? endedSpacingMs : 0),
    run: (records) => journal.record(records),
  });
}
