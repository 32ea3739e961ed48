import { createBatcher } from "@vidimus/kit/queues/batcher";
import type { Journaled, LaneJournal } from "../store/lane-journal.ts";
import type { LaneRecord } from "../store/lane-records.ts";

/** Between two statements that journal the ends of lanes, in milliseconds. Nothing is sent after them. */
const endedSpacingMs = 25;

/** `LaneJournal.record`, of one record; many are journaled at once. */
export function createRecorder(journal: Pick<LaneJournal, "record">): (record: LaneRecord) => Promise<Journaled> {
  return createBatcher<LaneRecord, Journaled>({
    itemsMax: 256,
    // While one batch is journaled, the next one is.
    inFlightMax: 2,
    laneOf: ({ step }) => (step.next === "empty" ? "ended" : "going on"),
    spacingMsOf: (kind) => (kind === "ended" ? endedSpacingMs : 0),
    run: (records) => journal.record(records),
  });
}
