import type { Mongo } from "@vidimus/kit/mongo";
import { isDuplicateKey } from "@vidimus/kit/mongo-errors";
import { uuidv7 } from "@vidimus/kit/uuid";
import type { AnyBulkWriteOperation, ClientSession, Collection, Filter, MongoClient } from "mongodb";
import type { Dictionary, Wanted } from "../domain/dictionary.ts";
import type { Phrase } from "../domain/phrase.ts";
import type { PhraseWrite } from "../domain/plan-upserts.ts";
import type { DictionaryRow, PhraseRow } from "./rows.ts";
import { Turns } from "./turns.ts";

const rowsPerBatch = 500;
const withoutOwn = { _id: 0, tenantId: 0 } as const;
const durable = { readConcern: { level: "snapshot" }, writeConcern: { w: "majority", journal: true } } as const;

/**
 * Keeps the tenants' phrases. Every change is one transaction that also replaces the revision of the dictionary, so a
 * revision that stands has seen every change, whoever made it and whoever died in between. Changes of one tenant go one
 * after the other: in this process by turns, between processes because they write the same revision.
 */
export class PhraseStore implements Dictionary {
  readonly #client: MongoClient;
  readonly #phrases: Collection<PhraseRow>;
  readonly #dictionaries: Collection<DictionaryRow>;
  readonly #turns = new Turns();

  constructor({ client, db }: Pick<Mongo, "client" | "db">) {
    this.#client = client;
    this.#phrases = db.collection("phrases");
    this.#dictionaries = db.collection("dictionaries");
  }

  async ensureIndexes(): Promise<void> {
    await this.#phrases.createIndex({ tenantId: 1, id: 1 }, { unique: true });
    // Also the order of exports.
    await this.#phrases.createIndex({ tenantId: 1, language: 1, phrase: 1 }, { unique: true });
  }

  async revision(tenantId: string): Promise<string> {
    const row = await this.#dictionaries.findOne({ _id: tenantId }, { maxTimeMS: 5_000 });
    return row?.revision ?? "0";
  }

  async find(tenantId: string, wanted: Wanted, session?: ClientSession): Promise<Phrase[]> {
    const [match, ...others] = matchesOf(tenantId, wanted);
    if (!match) return [];
    const options = { projection: withoutOwn, maxTimeMS: 20_000, ...(session ? { session } : {}) };
    const filter = others.length === 0 ? match : { $or: [match, ...others] };
    return (await this.#phrases.find(filter, options).toArray()).map(fromRow);
  }

  async *list(tenantId: string, language: string | undefined, signal: AbortSignal): AsyncGenerator<Phrase[]> {
    const filter = language === undefined ? { tenantId } : { tenantId, language };
    const options = { projection: withoutOwn, batchSize: rowsPerBatch, signal };
    await using cursor = this.#phrases.find(filter, options).sort({ tenantId: 1, language: 1, phrase: 1 });
    while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(fromRow);
  }

  change<Plan extends { readonly writes: readonly PhraseWrite[] }>(
    tenantId: string,
    wanted: Wanted,
    decide: (standing: Phrase[]) => Plan,
  ): Promise<Plan> {
    return this.#transact(tenantId, async (session) => {
      const plan = decide(await this.find(tenantId, wanted, session));
      if (plan.writes.length === 0) return plan;
      await this.#touch(tenantId, session);
      await this.#phrases.bulkWrite(
        plan.writes.map((write) => toOperation(tenantId, write)),
        { session },
      );
      return plan;
    });
  }

  delete(tenantId: string, id: string): Promise<boolean> {
    return this.#transact(tenantId, async (session) => {
      const { deletedCount } = await this.#phrases.deleteOne({ tenantId, id }, { session });
      if (deletedCount > 0) await this.#touch(tenantId, session);
      return deletedCount > 0;
    });
  }

  async #touch(tenantId: string, session: ClientSession): Promise<void> {
    await this.#dictionaries.updateOne({ _id: tenantId }, { $set: { revision: uuidv7() } }, { session, upsert: true });
  }

  #transact<T>(tenantId: string, work: (session: ClientSession) => Promise<T>): Promise<T> {
    const run = () => this.#client.withSession((session) => session.withTransaction(work, durable));
    return this.#turns.take(tenantId, async () => {
      try {
        return await run();
      } catch (error) {
        // Two processes made the tenant's first change at once: by now the row of its dictionary is there.
        if (isDuplicateKey(error)) return run();
        throw error;
      }
    });
  }
}

function matchesOf(tenantId: string, { ids, keys }: Wanted): Filter<PhraseRow>[] {
  const byLanguage = Map.groupBy(keys, ({ language }) => language);
  const byKey = Array.from(byLanguage, ([language, keys]) => ({
    tenantId,
    language,
    phrase: { $in: keys.map(({ phrase }) => phrase) },
  }));
  return ids.length === 0 ? byKey : [{ tenantId, id: { $in: [...ids] } }, ...byKey];
}

function toOperation(tenantId: string, { kind, phrase }: PhraseWrite): AnyBulkWriteOperation<PhraseRow> {
  const row = toRow(tenantId, phrase);
  if (kind === "insert") return { insertOne: { document: row } };
  return { replaceOne: { filter: { tenantId, id: phrase.id }, replacement: row } };
}

function toRow(tenantId: string, phrase: Phrase): PhraseRow {
  return { tenantId, ...phrase, commonMistakes: [...phrase.commonMistakes] };
}

function fromRow(row: Omit<PhraseRow, "tenantId">): Phrase {
  return row;
}
