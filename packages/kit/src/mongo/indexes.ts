import type { Collection, Db, Document } from "mongodb";

/**
 * An index as its store declares it. `ensureIndexes` and `missingIndexes` read it, and hints use
 * its key or its name.
 */
export interface Index {
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly unique?: true;
  /** Leaves out rows that have none of the columns. */
  readonly sparse?: true;
  readonly partialFilterExpression?: Document;
  readonly expireAfterSeconds?: number;
}

/** From name to index, for one collection. */
export type CollectionIndexes = Readonly<Record<string, Index>>;

export type DatabaseIndexes = Readonly<Record<string, CollectionIndexes>>;

export async function ensureIndexes(db: Db, indexes: DatabaseIndexes): Promise<void> {
  const collections = Object.entries(indexes).map(async ([collection, own]) => {
    const descriptions = Object.entries(own).map(([name, index]) =>
      Object.assign({ name }, index, { key: { ...index.key } }),
    );
    if (descriptions.length > 0) await db.collection(collection).createIndexes(descriptions);
  });
  await Promise.all(collections);
}

/** The declared indexes that a database lacks, each as `collection.index`. */
export async function missingIndexes(db: Db, indexes: DatabaseIndexes): Promise<string[]> {
  const collections = Object.entries(indexes).map(async ([collection, own]) => {
    const existing = new Set((await readIndexes(db.collection(collection))).map(shapeOf));
    const missing = Object.entries(own).filter(([, index]) => !existing.has(shapeOf(index)));
    return missing.map(([name]) => `${collection}.${name}`);
  });
  return (await Promise.all(collections)).flat();
}

async function readIndexes(rows: Collection): Promise<Index[]> {
  try {
    return await rows.listIndexes().toArray();
  } catch (error) {
    if (error instanceof Error && "codeName" in error && error.codeName === "NamespaceNotFound") return [];
    throw error;
  }
}

/**
 * Equal for two indexes that serve the same reads, refuse the same rows and delete the same rows,
 * whatever their names.
 */
function shapeOf({ key, unique, sparse, partialFilterExpression, expireAfterSeconds }: Index): string {
  return JSON.stringify([Object.entries(key), !!unique, !!sparse, partialFilterExpression, expireAfterSeconds]);
}
