import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { KeptCopy } from "@vidimus/kit/newest-copy";
import type { Collection, Db } from "mongodb";
import type { TrustListRow } from "./rows.ts";

export interface KnownTrustList {
  /** Revision of signing's key ring; each change of the trust list raises it. */
  readonly revision: number;
  readonly keyIds: readonly string[];
  /** Ids of the keys of this list and of all that were stored before it. */
  readonly everListed: readonly string[];
}

const id = { _id: "trust_list" } as const;

/** Keeps the newest trust list that any process of delivery has read. */
export class TrustListStore {
  readonly #rows: Collection<TrustListRow>;

  constructor(db: Db) {
    this.#rows = db.collection("trust_list");
  }

  /**
   * The copy's age is always infinite: a list that signing has stated to another process does not
   * count as confirmed to this one.
   */
  async read(): Promise<KeptCopy<KnownTrustList> | undefined> {
    const copy = await this.#rows.findOne(id);
    return copy ? { copy, ageMs: Number.POSITIVE_INFINITY } : undefined;
  }

  /** Stores a list, unless one as new or newer is stored. @returns the stored one */
  async keep({ revision, keyIds }: Pick<KnownTrustList, "revision" | "keyIds">): Promise<KnownTrustList> {
    const isOlder = { ...id, revision: { $lt: revision } };
    const update = { $set: { revision, keyIds: [...keyIds] }, $addToSet: { everListed: { $each: [...keyIds] } } };
    try {
      const kept = await this.#rows.findOneAndUpdate(isOlder, update, { upsert: true, returnDocument: "after" });
      if (kept) return kept;
    } catch (error) {
      // The upsert fails with a duplicate id when the stored list is as new or newer, and when
      // another process inserts the row first. That row may have an older list, so the update is
      // repeated.
      if (!isDuplicateKey(error)) throw error;
    }
    const kept = await this.#rows.findOneAndUpdate(isOlder, update, { returnDocument: "after" });
    if (kept) return kept;
    const newer = await this.read();
    if (!newer) throw new Error("the kept trust list was deleted meanwhile");
    return newer.copy;
  }
}
