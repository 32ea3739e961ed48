import type { Abortable, Collection, Db, FindOptions, MongoClient } from "mongodb";
import type { SlugHolder, SlugName } from "../domain/published-reads/read-documents.ts";
import type { SlugReader } from "../domain/published-reads/resolve-filter.ts";
import type { Moment } from "../domain/published-reads/tenant-clock.ts";
import { readAtMoment } from "./causal-session.ts";
import type { SlugRow } from "./rows.ts";

const projection = { _id: 0, type: 1, slug: 1, documentId: 1 } as const;
const maxTimeMS = 5_000;

/**
 * Finds documents by slug. `publications` has the current holders and `slugs` the last ones.
 * `slugs` is read only for slugs without a current holder. `TransitionStore` writes both.
 */
export class SlugStore implements SlugReader {
  readonly #client: MongoClient;
  readonly #holders: readonly Collection<SlugRow>[];

  constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#holders = [db.collection("publications"), db.collection("slugs")];
  }

  /**
   * Id of the document that has a slug, or had it last. Sees all that was committed up to `moment`.
   */
  async findDocument(tenantId: string, type: string, slug: string, moment?: Moment): Promise<string | undefined> {
    const [holder] = await readAtMoment(this.#client, moment, (session) =>
      this.#find(tenantId, [{ type, slug }], { session }),
    );
    return holder?.documentId;
  }

  /**
   * The documents that have these slugs, or had them last, in any order. `names` must not be empty.
   */
  findDocuments(tenantId: string, names: readonly SlugName[], signal: AbortSignal): Promise<SlugHolder[]> {
    return this.#find(tenantId, names, { signal });
  }

  async #find(tenantId: string, names: readonly SlugName[], options: FindOptions & Abortable): Promise<SlugHolder[]> {
    const found = new Map<string, SlugHolder>();
    for (const rows of this.#holders) {
      const missing = names.filter((name) => !found.has(keyOf(name)));
      if (missing.length === 0) break;
      const filter = { tenantId, $or: slugFilters(missing) };
      const holders = rows.find(filter, { ...options, maxTimeMS }).project<SlugHolder>(projection);
      for (const holder of await holders.toArray()) found.set(keyOf(holder), holder);
    }
    return [...found.values()];
  }
}

/** Alternatives for an `$or`. MongoDB refuses an empty one, so `names` must not be empty. */
export function slugFilters(names: readonly SlugName[]): { type: string; slug: { $in: string[] } }[] {
  return Array.from(
    Map.groupBy(names, ({ type }) => type),
    ([type, ofType]) => {
      return { type, slug: { $in: ofType.map(({ slug }) => slug) } };
    },
  );
}

function keyOf({ type, slug }: SlugName): string {
  return `${type}\n${slug}`;
}
