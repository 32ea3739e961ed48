import type { Mongo } from "@vidimus/kit/mongo/mongo";
import type { Db } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import type { SnapshotKey } from "../domain/snapshots/snapshot-feed.ts";
import { DocumentStore, formerListIndex, listIndexes } from "./document-store.ts";
import { dropIndex, findIndex } from "./indexes.ts";
import { PublicationStore } from "./publication-store.ts";
import { requestIndex, RevisionStore } from "./revision-store.ts";
import { rewriteRows } from "./rewrite-rows.ts";
import { lookAgainMs, preparedVersion, Rollout, rowsVersion, schemaVersion } from "./rollout.ts";
import type { SnapshotRow } from "./rows.ts";
import { SchemaStore } from "./schema-store.ts";
import { SnapshotStore } from "./snapshot-store.ts";
import { TransitionStore } from "./transition-store.ts";
import { WorkflowStore } from "./workflow-store.ts";

type Database = Pick<Mongo, "client" | "db">;

/** Longer than a process of this version goes without a look, and than its transaction then takes. */
const settleMs = lookAgainMs + 1_000;

/**
 * Adds what this version needs, and takes nothing away: processes of earlier versions go on beside
 * those of this one. A database without rows of version 2 is brought to `schemaVersion`. Idempotent, and
 * harmless beside itself.
 *
 * @returns the version the database was at; 0 for a new one
 */
export async function prepareDatabase({ client, db }: Database): Promise<number> {
  const rollout = new Rollout(db);
  const from = await rollout.version();
  const stores = [
    new DocumentStore(db),
    new RevisionStore(client, db),
    new SchemaStore(db),
    new TransitionStore(client, db, rollout),
    new PublicationStore(client, db),
    new SnapshotStore(db),
    new WorkflowStore(db),
  ];
  for (const store of stores) await store.ensureIndexes();
  await adoptOutbox(db);
  await rollout.reach(preparedVersion);
  if (from === 0) await rollout.reach(rowsVersion);
  if (from === 0 || from >= rowsVersion) await rollout.reach(schemaVersion);
  return from;
}

/**
 * Brings the database to `schemaVersion`. No process of an earlier version may run any more; those
 * of this version may, and see every row as it is. May be killed anywhere and run again, and is harmless
 * beside itself. It rewrites all old rows even when the version was reached before: a process of
 * version 2 may have left some since.
 *
 * @returns the version the database was at; 0 for a new one
 */
export async function migrate(database: Database): Promise<number> {
  const { db } = database;
  const from = await prepareDatabase(database);
  if (from === 0) return from;
  const rollout = new Rollout(db);
  const endedMs = await rollout.endVersion2();
  // Before it was prepared, no process of this version could start.
  if (from === preparedVersion) await pause(Math.max(0, settleMs - endedMs));
  await rewriteRows(db);
  await rollout.reach(rowsVersion);
  await dropFormerIndexes(db);
  await rollout.reach(schemaVersion);
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

/** Processes of earlier versions cannot list documents without it. */
async function dropFormerIndexes(db: Db): Promise<void> {
  await dropIndex(db.collection("heads"), formerListIndex);
}

/**
 * Migrates the database at the start of a service, unless that was done before. No process of an
 * earlier version may run any more.
 */
export async function ensureMigrated(database: Database): Promise<void> {
  const version = await new Rollout(database.db).version();
  if (version < rowsVersion) await migrate(database);
  else if (version < schemaVersion) {
    await prepareDatabase(database);
    await dropFormerIndexes(database.db);
  }
}

/**
 * Rejects when the database was not prepared for this code. A newer one will do: rollouts pass
 * through it.
 */
export async function requirePrepared(db: Db): Promise<void> {
  const version = await new Rollout(db).version();
  const lacking = version < preparedVersion ? undefined : await lackingIndex(db);
  if (version >= preparedVersion && lacking === undefined) return;
  const fault = lacking ?? `is at version ${version}, but ${preparedVersion} is needed`;
  throw new Error(`database ${db.databaseName} ${fault}: run migrate.ts`);
}

/** Earlier releases prepared databases of version 2 without these indexes, for the same version. */
async function lackingIndex(db: Db): Promise<string | undefined> {
  const ofHeads = Object.values(listIndexes).map((key) => ["heads", key] as const);
  for (const [name, key] of [...ofHeads, ["history", requestIndex] as const]) {
    if (!(await findIndex(db.collection(name), key))) return `lacks index ${JSON.stringify(key)} of ${name}`;
  }
  return undefined;
}
