import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection, Db } from "mongodb";
import type { TrustList, TrustListCopy } from "../upstream/trust-list.ts";

interface TrustListRow {
  _id: "trust_list";
  revision: number;
  readAt: Date;
  list: TrustList;
}

/** Keeps the newest trust list that any gateway has served. */
export class TrustListStore {
  readonly #rows: Collection<TrustListRow>;

  constructor(db: Db) {
    this.#rows = db.collection("trust_list");
  }

  async read(): Promise<TrustListCopy | undefined> {
    const row = await this.#rows.findOne({ _id: "trust_list" }, { maxTimeMS: 1_000 });
    return row ? { list: row.list, revision: row.revision, readAt: row.readAt.getTime() } : undefined;
  }

  /** Stores a copy, unless a newer one is stored. */
  async keep({ list, revision, readAt }: TrustListCopy): Promise<void> {
    const isNotNewer = { _id: "trust_list", revision: { $lte: revision } } as const;
    try {
      await this.#rows.updateOne(isNotNewer, { $set: { list, revision, readAt: new Date(readAt) } }, { upsert: true });
    } catch (error) {
      // The row of a newer revision does not match, and the upsert finds its id taken.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}
