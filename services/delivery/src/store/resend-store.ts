import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import type { Collection, Db } from "mongodb";
import type { Reference } from "../domain/payload.ts";
import type { ResendRow } from "./rows.ts";

/** A snapshot to be sent again from `dueAt` on. */
type NotedSnapshot = Omit<ResendRow, "_id">;

/**
 * Keeps which snapshots were signed again and are sent again if they are the newest of their
 * documents, at most one for each document.
 */
export class ResendStore {
  static readonly indexes = {
    resends: { due: { key: { tenantId: 1, dueAt: 1 } } },
  } as const satisfies DatabaseIndexes;
  readonly #rows: Collection<ResendRow>;

  constructor(db: Db) {
    this.#rows = db.collection("resends");
  }

  /** Keeps the highest sequence, and the latest `dueAt`, of each document. */
  async add(references: readonly Reference[], dueAt: Date): Promise<void> {
    if (references.length === 0) return;
    const operations = references.map(({ tenantId, documentId, sequence }) => {
      const update = { $set: { tenantId, documentId }, $max: { sequence, dueAt } };
      return { updateOne: { filter: { _id: `${tenantId} ${documentId}` }, update, upsert: true } };
    });
    await this.#rows.bulkWrite(operations, { ordered: false });
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#rows.findOne({}, { projection: { _id: 1 } })) === null;
  }

  async tenants(): Promise<string[]> {
    return this.#rows.distinct("tenantId");
  }

  /** Up to `limit` of a tenant's noted snapshots that are due, in no particular order. */
  async due(tenantId: string, now: Date, limit: number): Promise<NotedSnapshot[]> {
    return this.#rows.find({ tenantId, dueAt: { $lte: now } }, { limit, projection: { _id: 0 } }).toArray();
  }

  /** Keeps a document's row if a snapshot was noted in it meanwhile. */
  async remove(noted: readonly NotedSnapshot[]): Promise<void> {
    const operations = noted.map(({ tenantId, documentId, sequence, dueAt }) => {
      return { deleteOne: { filter: { _id: `${tenantId} ${documentId}`, sequence, dueAt } } };
    });
    if (operations.length > 0) await this.#rows.bulkWrite(operations, { ordered: false });
  }
}
