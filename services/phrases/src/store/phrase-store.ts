import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { AnyBulkWriteOperation, Collection, Db, Filter, FindCursor, MongoClient } from "mongodb";
import type { Dictionary, DictionarySnapshot, Wanted, Write } from "../domain/dictionary.ts";
import type { Phrase } from "../domain/phrase.ts";
import type { PageQuery, PhrasePage } from "../domain/phrase-page.ts";
import type { PhraseWrite } from "../domain/plan-upserts.ts";
import { type Change, DictionaryState } from "./dictionary-state.ts";
import { findByKeys, inOrder } from "./find-by-keys.ts";
import { readPage } from "./read-page.ts";
import { fromRow, type PhraseRow, withoutOwn } from "./rows.ts";
import { type SnapshotOptions, snapshotOptions } from "./snapshot-options.ts";

/**
 * Rows that an export fetches at once. Batches of 500 rows would survive two garbage collections
 * and so become old objects of V8, which takes another 100 MB.
 */
const rowsPerBatch = 200;
/** Most phrases that one command deletes; such a command takes about 50 ms. */
const idsPerDelete = 1_000;

/**
 * The index of ids. Statements by ids need it as a hint, because MongoDB might choose `inOrder` and
 * read the whole dictionary.
 */
const byId = { tenantId: 1, id: 1 } as const;

/**
 * Keeps the tenants' phrases. Every upsert is conditional on the rows that were read, so no locks
 * are needed.
 */
export class PhraseStore implements Dictionary {
  static readonly indexes = {
    phrases: {
      id: { key: byId, unique: true },
      phrase: { key: inOrder, unique: true },
    },
  } as const satisfies DatabaseIndexes;
  readonly #client: MongoClient;
  readonly #phrases: Collection<PhraseRow>;
  readonly #state: DictionaryState;

  constructor(db: Db) {
    this.#client = db.client;
    this.#phrases = db.collection("phrases");
    this.#state = new DictionaryState(db);
  }

  revision(tenantId: string): Promise<string | undefined> {
    return this.#state.revision(tenantId);
  }

  async find(tenantId: string, { ids, keys }: Wanted): Promise<Phrase[]> {
    const found = await findByKeys(this.#phrases, tenantId, keys);
    const known = new Set(found.map(({ id }) => id));
    const others = ids.filter((id) => !known.has(id));
    if (others.length === 0) return found;
    const filter = { tenantId, id: { $in: others } };
    const options = { projection: withoutOwn, hint: byId, maxTimeMS: 20_000 };
    const rows = await this.#phrases.find(filter, options).toArray();
    return [...found, ...rows.map(fromRow)];
  }

  async snapshot(tenantId: string, language: string | undefined, signal: AbortSignal): Promise<DictionarySnapshot> {
    await using stack = new AsyncDisposableStack();
    const snapshot = snapshotOptions(this.#client);
    stack.use(snapshot.session);
    const revision = await this.#state.revisionAt(snapshot, tenantId);
    const filter = language === undefined ? { tenantId } : { tenantId, language };
    const batches = stack.use(this.#list(filter, snapshot, signal));
    const opened = stack.move();
    return { revision, batches, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  }

  async *#list(
    filter: Filter<PhraseRow>,
    snapshot: SnapshotOptions,
    signal: AbortSignal,
  ): AsyncGenerator<Iterable<Phrase>> {
    const options = { ...snapshot, projection: withoutOwn, batchSize: rowsPerBatch, signal };
    await using cursor = this.#phrases.find(filter, options).sort(inOrder);
    while (await cursor.hasNext()) yield buffered(cursor);
  }

  page(tenantId: string, query: PageQuery): Promise<PhrasePage> {
    return readPage(this.#phrases, tenantId, query);
  }

  async idsOf(tenantId: string, language: string, max: number): Promise<string[]> {
    const options = { projection: { _id: 0, id: 1 }, hint: inOrder, limit: max, maxTimeMS: 20_000 } as const;
    return (await this.#phrases.find({ tenantId, language }, options).toArray()).map(({ id }) => id);
  }

  countOf(tenantId: string, language: string): Promise<number> {
    return this.#phrases.countDocuments({ tenantId, language }, { maxTimeMS: 20_000 });
  }

  async deleteAll(tenantId: string, ids: readonly string[], signal: AbortSignal): Promise<number> {
    let deleted = 0;
    await this.#change(tenantId, async ({ begin }) => {
      for (let at = 0; at < ids.length; at += idsPerDelete) {
        signal.throwIfAborted();
        await begin();
        const filter = { tenantId, id: { $in: ids.slice(at, at + idsPerDelete) } };
        deleted += (await this.#phrases.deleteMany(filter, { hint: byId })).deletedCount;
      }
    });
    return deleted;
  }

  change<T>(tenantId: string, work: (write: Write) => Promise<T>): Promise<T> {
    return this.#change(tenantId, ({ begin }) =>
      work(async (writes) => {
        await begin();
        return this.#write(tenantId, writes);
      }),
    );
  }

  async #change<T>(tenantId: string, work: (change: Change) => Promise<T>): Promise<T> {
    const change = this.#state.change(tenantId);
    try {
      const result = await work(change);
      await change.end();
      return result;
    } catch (error) {
      // The first failure is thrown, also when this `end` fails. The dictionary then has no
      // revision until its mark counts as abandoned, three minutes after the change began.
      await change.end().catch(() => {});
      throw error;
    }
  }

  async #write(tenantId: string, writes: readonly PhraseWrite[]): Promise<boolean> {
    try {
      const { matchedCount, deletedCount } = await this.#phrases.bulkWrite(
        writes.map((write) => toOperation(tenantId, write)),
      );
      return matchedCount + deletedCount === writes.filter(({ kind }) => kind !== "insert").length;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }
}

/** The rows that a cursor has fetched. Each is decoded when it is taken. */
function* buffered(cursor: FindCursor<Omit<PhraseRow, "tenantId">>): Generator<Phrase> {
  for (let [row] = cursor.readBufferedDocuments(1); row; [row] = cursor.readBufferedDocuments(1)) yield fromRow(row);
}

function toOperation(tenantId: string, write: PhraseWrite): AnyBulkWriteOperation<PhraseRow> {
  if (write.kind === "insert") return { insertOne: { document: toRow(tenantId, write.phrase) } };
  const { id, language, phrase } = write.standing;
  const filter = { tenantId, id, language, phrase };
  if (write.kind === "delete") return { deleteOne: { filter } };
  const exact = write.isExact ? { ...filter, updatedAt: write.standing.updatedAt } : filter;
  return { replaceOne: { filter: exact, replacement: toRow(tenantId, write.phrase) } };
}

function toRow(tenantId: string, phrase: Phrase): PhraseRow {
  return { tenantId, ...phrase, commonMistakes: [...phrase.commonMistakes] };
}
