import type { Db, Document, IndexDescriptionInfo, MongoClient } from "mongodb";
import { readOneMoment } from "./read-one-moment.ts";

interface CollectionBackup {
  readonly name: string;
  readonly rows: readonly Document[];
  readonly indexes: readonly IndexDescriptionInfo[];
}

/** All rows of a database as they were at one moment, and its indexes. */
export type DatabaseBackup = readonly CollectionBackup[];

/** The indexes are read outside of the session, so nothing may change them meanwhile. */
export async function backUp(client: MongoClient, database: string): Promise<DatabaseBackup> {
  const db = client.db(database);
  const names = await db.listCollections({ type: "collection" }, { nameOnly: true }).toArray();
  return readOneMoment(client, async (session) => {
    const backup: CollectionBackup[] = [];
    for (const { name } of names) {
      // Without promotion numbers keep their BSON types, so they are restored as they were.
      const rows = await db.collection(name).find({}, { session, promoteValues: false }).toArray();
      backup.push({ name, rows, indexes: await db.collection(name).indexes() });
    }
    return backup;
  });
}

export async function restoreBackup(db: Db, backup: DatabaseBackup): Promise<void> {
  await db.dropDatabase();
  for (const { name, rows, indexes } of backup) {
    const collection = await db.createCollection(name);
    const own = indexes.filter((index) => index.name !== "_id_");
    if (own.length > 0) await collection.createIndexes(own.map(({ v: _v, ...index }) => index as { key: Document }));
    if (rows.length > 0) await collection.insertMany([...rows]);
  }
}
