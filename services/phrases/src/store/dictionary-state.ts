import { DomainError } from "@vidimus/kit/errors";
import { uuidv7 } from "@vidimus/kit/ids";
import type { Collection, Db } from "mongodb";
import type { DictionaryRow } from "./rows.ts";
import type { SnapshotOptions } from "./snapshot-options.ts";

/** A change starts no write after this time, which is longer than calls have by default, 60 s. */
const changeMsMax = 90_000;
/** A change that began longer ago than this is over, or its process died: its mark is removed. */
const abandonedAfterMs = 180_000;

export interface Change {
  /**
   * Call before each write; the first call marks the dictionary.
   *
   * @throws DomainError `unavailable` when the change has lasted more than 90 seconds
   */
  begin(): Promise<void>;
  /** Removes the mark, if there is one. */
  end(): Promise<void>;
}

/**
 * Keeps the revision of each dictionary. A change sets a mark before its first write and removes it
 * after its last; setting and removing it replace the revision. So two reads without a mark that
 * find the same revision find the same content, even when a process died between two writes. A
 * transaction around the writes would do the same, but the transaction of a killed process keeps
 * its locks for a minute.
 */
export class DictionaryState {
  readonly #rows: Collection<DictionaryRow>;

  constructor(db: Db) {
    this.#rows = db.collection("dictionaries");
  }

  /** The revision: "0" before the first change, undefined while a change is marked. */
  async revision(tenantId: string): Promise<string | undefined> {
    const row = await this.#find(tenantId);
    const abandoned = new Date(Date.now() - abandonedAfterMs);
    if (row?.changes.some(({ since }) => since < abandoned)) await this.#pull(tenantId, { since: { $lt: abandoned } });
    return revisionOf(row);
  }

  /** As `revision`, at the moment of a snapshot. */
  async revisionAt(snapshot: SnapshotOptions, tenantId: string): Promise<string | undefined> {
    return revisionOf(await this.#find(tenantId, snapshot));
  }

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

  #find(tenantId: string, options: Partial<SnapshotOptions> = {}): Promise<DictionaryRow | null> {
    return this.#rows.findOne({ _id: tenantId }, { maxTimeMS: 5_000, ...options });
  }

  async #push(tenantId: string, change: DictionaryRow["changes"][number]): Promise<void> {
    const update = { $push: { changes: change }, $set: { revision: uuidv7() } };
    await this.#rows.updateOne({ _id: tenantId }, update, { upsert: true });
  }

  async #pull(tenantId: string, which: { token: string } | { since: { $lt: Date } }): Promise<void> {
    await this.#rows.updateOne({ _id: tenantId }, { $pull: { changes: which }, $set: { revision: uuidv7() } });
  }
}

function revisionOf(row: DictionaryRow | null): string | undefined {
  if (!row) return "0";
  return row.changes.length === 0 ? row.revision : undefined;
}
