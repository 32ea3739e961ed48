import { createBatcher } from "@vidimus/kit/queues/batcher";
import type { Journaled, LaneJournal } from "../store/lane-journal.ts";
import type { LaneRecord } from "../store/lane-records.ts";

/**
 * Milliseconds between two batches of lanes without further rows, unless a batch is full: no next
 * row waits for their record.
 */
const endedSpacingMs = 25;

/** Makes a function that journals single records by batches of `LaneJournal.record`. */
export function createRecorder(journal: Pick<LaneJournal, "record">): (record: LaneRecord) => Promise<Journaled> {
  return createBatcher<LaneRecord, Journaled>({
    itemsMax: 256,
    // The next batch is journaled while one is running.
    inFlightMax: 2,
    laneOf: ({ step }) => (step.next === "empty" ? "ended" : "going on"),
    spacingMsOf: (kind) => (kind === "ended" ? endedSpacingMs : 0),
    run: (records) => journal.record(records),
  });
}
