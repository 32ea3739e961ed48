import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { KeptCopy } from "@vidimus/kit/newest-copy";
import type { Collection, Db } from "mongodb";
import type { StatedTrustList } from "../upstream/trust-list.ts";

interface TrustListRow {
  _id: "trust_list";
  revision: number;
  /** When a gateway last stored the list, by the database's clock, which all gateways share. */
  readAt: Date;
  list: Pick<StatedTrustList, "body" | "statement" | "signature">;
}

const id = { _id: "trust_list" } as const;
const ageMs = { $max: [0, { $subtract: ["$$NOW", "$readAt"] }] };

/** Keeps the newest trust list that any gateway has served. */
export class TrustListStore {
  readonly #rows: Collection<TrustListRow>;

  constructor(db: Db) {
    this.#rows = db.collection("trust_list");
  }

  async read(): Promise<KeptCopy<StatedTrustList> | undefined> {
    const projection = { revision: 1, list: 1, ageMs };
    const row = await this.#rows.findOne<TrustListRow & { ageMs: number }>(id, { projection, maxTimeMS: 1_000 });
    return row ? { copy: { revision: row.revision, ...row.list }, ageMs: row.ageMs } : undefined;
  }

  /** Stores a list, unless a newer one is stored. @returns the stored one */
  async keep({ revision, ...list }: StatedTrustList): Promise<StatedTrustList> {
    const isNotNewer = { ...id, revision: { $lte: revision } };
    const change = { $set: { list, revision }, $currentDate: { readAt: true } } as const;
    try {
      await this.#rows.updateOne(isNotNewer, change, { upsert: true });
      return { revision, ...list };
    } catch (error) {
      // A newer stored revision does not match, so the upsert fails with a duplicate id. It also
      // fails when another upsert inserts the row first, which may have an older revision.
      if (!isDuplicateKey(error)) throw error;
    }
    if ((await this.#rows.updateOne(isNotNewer, change)).matchedCount > 0) return { revision, ...list };
    const newer = await this.read();
    if (!newer) throw new Error("the kept trust list was deleted meanwhile");
    return newer.copy;
  }
}
