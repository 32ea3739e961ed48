import type { Mongo } from "@vidimus/kit/mongo/mongo";
import type { Db } from "mongodb";
import type { SnapshotKey } from "../domain/snapshots/snapshot-feed.ts";
import { DocumentStore } from "./document-store.ts";
import { PublicationStore } from "./publication-store.ts";
import { RevisionStore } from "./revision-store.ts";
import type { SnapshotRow } from "./rows.ts";
import { SchemaStore } from "./schema-store.ts";
import { SnapshotStore } from "./snapshot-store.ts";
import { TransitionStore } from "./transition-store.ts";
import { WorkflowStore } from "./workflow-store.ts";

/**
 * Version of the database that this code works with. Raised with every change of a store's indexes.
 */
export const schemaVersion = 2;

/** `migrations`: one row for every version the database has been brought to. */
interface MigrationRow {
  _id: number;
  at: Date;
}

/**
 * Brings the database to `schemaVersion`. Idempotent, and harmless beside itself and beside running
 * services. Going back to version 1 leaves what is pending to the broker: that version looks for it
 * elsewhere.
 *
 * @returns the version the database was at; 0 for a new one
 */
export async function migrate({ client, db }: Pick<Mongo, "client" | "db">): Promise<number> {
  const from = await databaseVersion(db);
  const stores = [
    new DocumentStore(db),
    new RevisionStore(client, db),
    new SchemaStore(db),
    new TransitionStore(client, db),
    new PublicationStore(client, db),
    new SnapshotStore(db),
    new WorkflowStore(db),
  ];
  for (const store of stores) await store.ensureIndexes();
  await adoptOutbox(db);
  await migrations(db).updateOne({ _id: schemaVersion }, { $setOnInsert: { at: new Date() } }, { upsert: true });
  return from;
}

/**
 * Version 1 kept what was pending in a collection of its own, and one of its processes may still
 * run, or run again.
 */
async function adoptOutbox(db: Db): Promise<void> {
  const outbox = db.collection<SnapshotKey>("outbox");
  for await (const { _id, tenantId, documentId, sequence } of outbox.find()) {
    const key = { tenantId, documentId, sequence };
    await db.collection<SnapshotRow>("snapshots").updateOne(key, { $set: { pending: true } });
    await outbox.deleteOne({ _id });
  }
}

/**
 * Rejects when the database was not migrated as far as this code needs. A newer one will do:
 * rollouts pass through it.
 */
export async function requireMigrated(db: Db): Promise<void> {
  const version = await databaseVersion(db);
  if (version >= schemaVersion) return;
  throw new Error(
    `database ${db.databaseName} is at version ${version}, but ${schemaVersion} is needed: run migrate.ts`,
  );
}

async function databaseVersion(db: Db): Promise<number> {
  const newest = await migrations(db).findOne({}, { sort: { _id: -1 } });
  return newest?._id ?? 0;
}

function migrations(db: Db) {
  return db.collection<MigrationRow>("migrations");
}
