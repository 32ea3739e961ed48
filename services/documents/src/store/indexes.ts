import type { Collection, IndexDescriptionInfo } from "mongodb";

/** Columns of an index, in order. */
type IndexKey = Readonly<Record<string, number>>;

/** The index of a collection with this key; undefined when there is none. */
export async function findIndex(rows: Collection, key: IndexKey): Promise<IndexDescriptionInfo | undefined> {
  return (await rows.indexes()).find((index) => JSON.stringify(index.key) === JSON.stringify(key));
}

/** Drops the index with this key, if there is one. */
export async function dropIndex(rows: Collection, key: IndexKey): Promise<void> {
  const found = await findIndex(rows, key);
  // Another migration may have been faster.
  if (found?.name !== undefined) await rows.dropIndex(found.name).catch(unlessMissing);
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof Error && "codeName" in error && error.codeName === "IndexNotFound")) throw error;
}
