import type { Collection, Db } from "mongodb";

interface FloorRow {
  _id: "sequence_floor";
  floor: number;
}

/**
 * The sequence above which all new snapshots are numbered; 0 until a restore.
 *
 * A restored database lacks its newest snapshots, which receivers have: a new snapshot with a lost
 * one's number would have the same webhook id and other bytes. One floor for all documents also
 * covers documents that were created and published in the lost time.
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

  /** A floor that is not above the stored one changes nothing. */
  async raise(floor: number): Promise<void> {
    await this.#rows.updateOne({ _id: "sequence_floor" }, { $max: { floor } }, { upsert: true });
  }
}
