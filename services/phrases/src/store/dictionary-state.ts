import { DomainError } from "@vidimus/kit/errors";
import { uuidv7 } from "@vidimus/kit/uuid";
import type { Collection, Db } from "mongodb";
import type { DictionaryRow } from "./rows.ts";

/** A change writes nothing more after this time, longer than any call may take. */
const changeMsMax = 90_000;
/** A change begun so long ago is over, whatever became of its process. */
const abandonedAfterMs = 180_000;

/** A change of one dictionary, from before its first write to after its last. */
export interface Change {
  /** Called before each write; the first call marks the dictionary. */
  begin(): Promise<void>;
  end(): Promise<void>;
}

/**
 * Knows in which state each dictionary is. A change is marked before its first write and after its last, so a revision
 * without a mark has seen every write, whoever made it and wherever its process died. A transaction around the writes would
 * say the same, but those of a killed process keep their locks for a minute.
 */
export class DictionaryState {
  readonly #rows: Collection<DictionaryRow>;

  constructor(db: Db) {
    this.#rows = db.collection("dictionaries");
  }

  /** The revision; "0" before the first change, undefined while there are changes under way. */
  async revision(tenantId: string): Promise<string | undefined> {
    const row = await this.#rows.findOne({ _id: tenantId }, { maxTimeMS: 5_000 });
    if (!row) return "0";
    if (row.changes.length === 0) return row.revision;
    const abandoned = new Date(Date.now() - abandonedAfterMs);
    if (row.changes.some(({ since }) => since < abandoned)) await this.#pull(tenantId, { since: { $lt: abandoned } });
    return undefined;
  }

  /** A change that has not begun. */
  change(tenantId: string): Change {
    const token = uuidv7();
    const since = new Date();
    let begun: Promise<void> | undefined;
    return {
      begin: async () => {
        if (Date.now() - since.getTime() > changeMsMax)
          throw new DomainError("unavailable", "the change took too long");
        begun ??= this.#push(tenantId, { token, since });
        await begun;
      },
      end: async () => {
        if (begun) await this.#pull(tenantId, { token });
      },
    };
  }

  async #push(tenantId: string, change: DictionaryRow["changes"][number]): Promise<void> {
    const update = { $push: { changes: change }, $set: { revision: uuidv7() } };
    await this.#rows.updateOne({ _id: tenantId }, update, { upsert: true });
  }

  async #pull(tenantId: string, which: { token: string } | { since: { $lt: Date } }): Promise<void> {
    await this.#rows.updateOne({ _id: tenantId }, { $pull: { changes: which }, $set: { revision: uuidv7() } });
  }
}
