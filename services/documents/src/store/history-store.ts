import type { NamedEntry } from "../domain/editing/repeated-update.ts";
import { type Collection, type Db, ObjectId, type WithId } from "mongodb";
import type { HistoryPosition } from "../domain/editing/document-history.ts";
import type { HistoryEntry } from "../domain/document/revision.ts";
import type { HistoryRow } from "./rows.ts";

/** Reads the history of documents. `TransitionStore` and `RevisionStore` write it. */
export class HistoryStore {
  readonly #history: Collection<HistoryRow>;

  constructor(db: Db) {
    this.#history = db.collection("history");
  }

  /**
   * Changes after intake, newest first, each with its position; with `before` only those that are
   * earlier than that position.
   */
  async list(
    tenantId: string,
    documentId: string,
    page: { limit: number; before?: HistoryPosition; signal?: AbortSignal },
  ): Promise<(HistoryEntry & { position: HistoryPosition })[]> {
    const { limit, before, signal } = page;
    const rows = await this.#history
      .find(
        { tenantId, documentId, ...(before ? earlier(before) : {}) },
        { ...(signal ? { signal } : {}), maxTimeMS: 5_000 },
      )
      .sort({ at: -1, _id: -1 })
      .limit(limit)
      .toArray();
    return rows.map(fromHistoryRow);
  }

  async findRequest(tenantId: string, documentId: string, requestToken: string): Promise<NamedEntry | undefined> {
    const filter = { tenantId, documentId, "request.token": requestToken };
    const row = await this.#history.findOne(filter, { maxTimeMS: 5_000 });
    if (!row) return undefined;
    const { position: _, ...entry } = fromHistoryRow(row);
    const { lastPublished } = row.request ?? {};
    return { ...entry, ...(lastPublished ? { lastPublished } : {}) };
  }
}

function fromHistoryRow(row: WithId<HistoryRow>): HistoryEntry & { position: HistoryPosition } {
  const { _id, at, by, transition, version, from, to } = row;
  const entry = { at, by, version, from, to, position: { at, entryId: _id.toHexString() } };
  return transition === undefined ? entry : { ...entry, transition };
}

function earlier({ at, entryId }: HistoryPosition) {
  return { $or: [{ at: { $lt: at } }, { at, _id: { $lt: ObjectId.createFromHexString(entryId) } }] };
}
