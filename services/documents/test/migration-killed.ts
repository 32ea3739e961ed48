import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Db, Document } from "mongodb";
import { expect, inject, test } from "vitest";
import { migrate } from "../src/store/migrate.ts";
import { rowsVersion, schemaVersion } from "../src/store/rollout.ts";
import { oldDocument, type OldDocument, tenantId, writeVersion2 } from "./version-2-rows.ts";
import { type Publishing, runPublishing } from "./publishing.ts";

const type = "core/article";
/** A published document that is withdrawn and published again all the while. */
const busy = oldDocument(1);

const timeoutMs = 600_000;

/** Migrates a database of version 2 under load, and kills the migration on the way. */
export function describeKilledMigration(count: number, kills: number): void {
  test(
    `a migration of ${count} documents, killed at ${kills} random moments and run again, leaves a fresh database, and every read on the way is right`,
    async () => {
      const [url, database] = [inject("mongoUrl"), testDatabaseName("killed")];
      await using stack = new AsyncDisposableStack();
      const mongo = stack.use(await openMongo({ url, database, appName: "migration-test" }));
      stack.defer(async () => void (await mongo.db.dropDatabase()));
      await writeVersion2(mongo.db, count);
      expect(await exitOf(startMigration(database, "--prepare"))).toBe(0);

      const settings = { mongoUrl: url, natsUrl: inject("natsUrl"), database, migrate: "off" } as const;
      const service = stack.use(await runPublishing(settings));
      const ended = new AbortController();
      const reading = readThroughout(service, count, ended.signal);
      const writing = writeThroughout(service, ended.signal);
      const interrupted = await killOnTheWay(mongo.db, database, kills);
      expect(await exitOf(startMigration(database))).toBe(0);
      ended.abort();
      const { reads, faults } = await reading;
      const steps = await writing;
      expect(faults).toEqual([]);
      expect(reads).toBeGreaterThan(50);
      // Kills that found work undone: not one that came when all was over.
      expect(interrupted).toBeGreaterThanOrEqual(kills - 1);

      expect(await differences(mongo.db, count)).toEqual([]);
      expect(await indexesOf(mongo.db)).toEqual(await freshIndexes());
      expect(await mongo.db.collection<{ _id: number }>("migrations").distinct("_id")).toEqual([
        2,
        3,
        rowsVersion,
        schemaVersion,
      ]);
      await wasWritten(service, steps);
      await goesOn(service);
    },
    timeoutMs,
  );
}

function startMigration(database: string, ...options: string[]): ChildProcess {
  const main = new URL("../src/migrate.ts", import.meta.url).pathname;
  const env = { ...process.env, MONGODB_URL: inject("mongoUrl"), MONGODB_DATABASE: database };
  return spawn(process.execPath, [main, ...options], { env, stdio: ["ignore", "ignore", "inherit"] });
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, "exit");
  return code;
}

/**
 * The migration stands still while its progress is read: a small database is migrated between two
 * looks.
 *
 * @returns how many kills left rows of version 2
 */
async function killOnTheWay(db: Db, database: string, kills: number): Promise<number> {
  const total = await oldRows(db);
  const moments = Array.from({ length: kills }, () => (0.1 + 0.9 * Math.random()) * total).toSorted((a, b) => b - a);
  let interrupted = 0;
  for (const moment of moments) {
    const child = startMigration(database);
    const exited = exitOf(child);
    while (child.exitCode === null && (await oldRows(db)) > moment) {
      child.kill("SIGCONT");
      await pause(5);
      child.kill("SIGSTOP");
    }
    child.kill("SIGKILL");
    await exited;
    if ((await oldRows(db)) > 0) interrupted += 1;
  }
  return interrupted;
}

async function oldRows(db: Db): Promise<number> {
  const counts = [
    ["heads", "live"],
    ["publications", "state"],
    ["slugs", "current"],
  ].map(([name = "", column = ""]) => db.collection(name).countDocuments({ [column]: { $exists: true } }));
  return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0);
}

/** Reads random documents in every way until the signal; each answer is compared. */
async function readThroughout(service: Publishing, count: number, signal: AbortSignal) {
  const faults: string[] = [];
  let reads = 0;
  while (!signal.aborted) {
    const document = oldDocument(2 + Math.floor(Math.random() * (count - 2)));
    for (const [way, found, wanted] of await readInEveryWay(service, document)) {
      reads += 1;
      if (found !== wanted) faults.push(`${document.fate} ${document.documentId} by ${way}: ${found}, not ${wanted}`);
    }
    const page = await service.published.listPublishedDocuments({ tenantId, type, limit: 21 });
    const items: { id: string }[] = JSON.parse(Buffer.from(page.itemsJson).toString());
    const newest = items.flatMap(({ id }) => (id === busy.documentId ? [] : [id])).slice(0, 20);
    reads += 1;
    if (newest.join() !== newestIds(count).join()) faults.push(`page of ${newest.join()}`);
  }
  return { reads, faults };
}

/** @returns how many transitions were made */
async function writeThroughout(service: Publishing, signal: AbortSignal): Promise<number> {
  let steps = 0;
  for (; !signal.aborted; steps += 1) {
    await service.take(tenantId, busy.documentId, steps % 2 === 0 ? "withhold" : "publish");
    await pause(5);
  }
  return steps;
}

/** Every step left its snapshot, and the rows of the last one agree. */
async function wasWritten({ db }: Publishing, steps: number): Promise<void> {
  const { documentId, slug } = busy;
  const sequences = await db.collection("snapshots").distinct("sequence", { documentId });
  expect(sequences).toEqual(Array.from({ length: steps + 1 }, (_, at) => at + 1));
  const isOut = steps % 2 === 0;
  const last = { sequence: steps + 1, ...(isOut ? { slug } : {}) };
  const head = await db.collection("heads").findOne({ documentId });
  expect(head).toMatchObject({ lastPublished: { ...last, status: isOut ? "usable" : "withheld" } });
  expect(head).not.toHaveProperty("live");
  expect(await db.collection("publications").findOne({ documentId })).toMatchObject(last);
}

async function readInEveryWay(service: Publishing, { documentId, fate, slug, formerSlug }: OldDocument) {
  const bySlug = (name: string) => ({ case: "slug" as const, value: { type, slug: name } });
  const ask = async (by: ReturnType<typeof bySlug> | { case: "documentId"; value: string }) => {
    const { results } = await service.published.batchGetPublishedDocuments({ items: [{ tenantId, by }] });
    const outcome = results[0]?.outcome;
    if (outcome?.case !== "found") return outcome?.case === "error" ? outcome.value.kind : "nothing";
    return JSON.parse(Buffer.from(outcome.value.documentJson).toString()).id as string;
  };
  const shown = { draft: "not_found", withdrawn: "gone" }[fate as string] ?? documentId;
  const { document } = await service.documents.getDocument({ tenantId, documentId });
  const last = document?.lastPublished;
  const status = { draft: "undefined undefined", withdrawn: "withheld 2", renamed: "usable 2" }[fate as string];
  return [
    ["id", await ask({ case: "documentId", value: documentId }), shown],
    ["slug", await ask(bySlug(slug)), shown],
    ["former slug", await ask(bySlug(formerSlug)), fate === "renamed" ? documentId : "not_found"],
    ["head", `${last?.status} ${last?.sequence}`, status ?? "usable 1"],
  ] as const;
}

function newestIds(count: number): string[] {
  const ids: string[] = [];
  for (let at = count - 1; at >= 0 && ids.length < 20; at -= 1) {
    const { fate, documentId } = oldDocument(at);
    if (fate !== "draft" && fate !== "withdrawn") ids.push(documentId);
  }
  return ids;
}

/** Where the rows are not those that a fresh database has; the first ten. */
async function differences(db: Db, count: number): Promise<string[]> {
  const faults: string[] = [];
  for (const name of ["heads", "publications", "slugs", "history", "snapshots"]) {
    const wanted = new Map<string, string>();
    for (let at = 0; at < count; at += 1) {
      if (at === 1) continue;
      for (const row of oldDocument(at).fresh[name] ?? []) wanted.set(String(row["_id"]), sorted(row));
    }
    for await (const row of db.collection(name).find({ documentId: { $ne: busy.documentId } })) {
      const key = String(row["_id"]);
      if (wanted.get(key) !== sorted(row)) faults.push(`${name}: ${sorted(row)}, not ${wanted.get(key)}`);
      wanted.delete(key);
    }
    faults.push(...Array.from(wanted.values(), (row) => `${name}: lost ${row}`));
  }
  return faults.slice(0, 10);
}

/** A row as text, whatever the order of its columns. */
function sorted(row: Document): string {
  return JSON.stringify(row, (_, value: unknown) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

async function freshIndexes() {
  const url = inject("mongoUrl");
  await using mongo = await openMongo({ url, database: testDatabaseName("fresh"), appName: "migration-test" });
  await migrate(mongo);
  const indexes = await indexesOf(mongo.db);
  await mongo.db.dropDatabase();
  return indexes;
}

async function indexesOf(db: Db) {
  const names = ["heads", "publications", "slugs", "history", "snapshots", "clocks", "versions"];
  const all = names.map(async (name) => {
    const indexes = await db.collection(name).indexes();
    const shapes = indexes.map(({ key, unique, partialFilterExpression }) =>
      JSON.stringify({ key, unique, partialFilterExpression }),
    );
    return [name, shapes.toSorted()] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}

/** The service has noticed that the time of version 2 is over, and takes documents further. */
async function goesOn(service: Publishing): Promise<void> {
  const [published, renamed] = [oldDocument(6), oldDocument(3)];
  await service.take(tenantId, published.documentId, "withhold");
  await service.take(tenantId, renamed.documentId, "withhold", 2);
  const retired = await service.db.collection("slugs").distinct("slug", { documentId: published.documentId });
  expect(retired).toEqual([published.slug]);
  const head = await service.db.collection("heads").findOne({ documentId: renamed.documentId });
  expect(head).toMatchObject({ lastPublished: { status: "withheld", sequence: 3 } });
  expect(head).not.toHaveProperty("live");
}
