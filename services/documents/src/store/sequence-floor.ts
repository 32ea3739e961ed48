import type { Collection, Db } from "mongodb";

/** `restores`: what the database was told after a restore. */
interface FloorRow {
  _id: "sequence_floor";
  floor: number;
  at: Date;
}

/**
 * The sequence above which every snapshot is numbered that is made from now on; 0 until a restore.
 *
 * A restored database has forgotten its newest snapshots, and receivers have them: a snapshot with the
 * number of a forgotten one would have its webhook id and other bytes. One floor for all documents
 * also holds for a document that was created and published in the time that was lost.
 */
export class SequenceFloor {
  readonly #rows: Collection<FloorRow>;

  constructor(db: Db) {
    this.#rows = db.collection("restores");
  }

  async read(): Promise<number> {
    const row = await this.#rows.findOne({ _id: "sequence_floor" }, { maxTimeMS: 5_000 });
    return row?.floor ?? 0;
  }

  /** Raises the floor; a lower one changes nothing. */
  async raise(floor: number): Promise<void> {
    await this.#rows.updateOne(
      { _id: "sequence_floor" },
      { $max: { floor }, $currentDate: { at: true } },
      { upsert: true },
    );
  }
}
