import type { Collection, Db } from "mongodb";
import type { SlugRow } from "./rows.ts";

/** Finds documents by their slugs. Writing them is the business of publishing transactions. */
export class SlugStore {
  readonly #slugs: Collection<SlugRow>;

  constructor(db: Db) {
    this.#slugs = db.collection("slugs");
  }

  /** Id of the document that has a slug, or had it last. */
  async findSlug(tenantId: string, type: string, slug: string): Promise<string | undefined> {
    const row = await this.#slugs.findOne({ tenantId, type, slug }, { maxTimeMS: 5_000 });
    return row?.documentId;
  }
}
