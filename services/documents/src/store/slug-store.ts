import type { Collection, Db, MongoClient } from "mongodb";
import type { SlugHolder, SlugName } from "../domain/published-reads/read-documents.ts";
import type { SlugReader } from "../domain/published-reads/resolve-filter.ts";
import type { Moment } from "../domain/published-reads/tenant-clock.ts";
import { sessionAt } from "./causal-session.ts";
import type { SlugRow } from "./rows.ts";

/** Finds documents by their slugs. `TransitionStore` writes slugs. */
export class SlugStore implements SlugReader {
  readonly #client: MongoClient;
  readonly #slugs: Collection<SlugRow>;

  constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#slugs = db.collection("slugs");
  }

  /** Id of the document that has a slug, or had it last; at a moment, if one is given. */
  async findDocument(tenantId: string, type: string, slug: string, moment?: Moment): Promise<string | undefined> {
    await using session = sessionAt(this.#client, moment);
    const row = await this.#slugs.findOne({ tenantId, type, slug }, { session, maxTimeMS: 5_000 });
    return row?.documentId;
  }

  /** Who has these slugs, or had them last; in any order, in one read. Names must not be empty. */
  async findDocuments(tenantId: string, names: readonly SlugName[], signal: AbortSignal): Promise<SlugHolder[]> {
    const ofType = Map.groupBy(names, ({ type }) => type);
    const $or = Array.from(ofType, ([type, each]) => ({ type, slug: { $in: each.map(({ slug }) => slug) } }));
    const columns = { _id: 0, type: 1, slug: 1, documentId: 1 } as const;
    const rows = this.#slugs.find({ tenantId, $or }, { projection: columns, signal, maxTimeMS: 5_000 });
    return await rows.toArray();
  }
}
