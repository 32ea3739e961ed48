import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { KeptCopy } from "@vidimus/kit/newest-copy";
import type { Collection, Db } from "mongodb";
import type { TrustListRow } from "./rows.ts";

/** A trust list, as far as delivery needs it. */
export interface KnownTrustList {
  /** Of the key ring; greater after each change of the list. */
  readonly revision: number;
  readonly keyIds: readonly string[];
  /** Every key that was ever listed, as far as delivery knows. */
  readonly everListed: readonly string[];
}

const id = { _id: "trust_list" } as const;

/** Keeps the newest trust list that any process of delivery has read. */
export class TrustListStore {
  readonly #rows: Collection<TrustListRow>;

  constructor(db: Db) {
    this.#rows = db.collection("trust_list");
  }

  /** When it was stated is not kept: a list of another process has not been confirmed to this one. */
  async read(): Promise<KeptCopy<KnownTrustList> | undefined> {
    const copy = await this.#rows.findOne(id);
    return copy ? { copy, ageMs: Number.POSITIVE_INFINITY } : undefined;
  }

  /** Keeps a list, unless one as new or newer is kept. @returns the one that is kept */
  async keep({ revision, keyIds }: Pick<KnownTrustList, "revision" | "keyIds">): Promise<KnownTrustList> {
    const update = { $set: { revision, keyIds: [...keyIds] }, $addToSet: { everListed: { $each: [...keyIds] } } };
    try {
      const isOlder = { ...id, revision: { $lt: revision } };
      const kept = await this.#rows.findOneAndUpdate(isOlder, update, { upsert: true, returnDocument: "after" });
      if (kept) return kept;
    } catch (error) {
      // The row of a newer revision does not match, and the upsert finds its id taken.
      if (!isDuplicateKey(error)) throw error;
    }
    const newer = await this.read();
    if (!newer) throw new Error("the kept trust list was deleted meanwhile");
    return newer.copy;
  }
}
