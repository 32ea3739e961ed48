/**
 * A later release of documents, whose database version is one step higher, replaces this release
 * without a stop.
 */
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Db } from "mongodb";
import { expect, inject, test } from "vitest";
import { documentsDatabaseVersion } from "../src/store/documents-database-version.ts";
import { inventedDatabaseVersion, unfound } from "./support/invented-step.ts";
import { article, type Publishing, runPublishing } from "./support/publishing.ts";

const tenantId = "news";
const edition = "north";
const database = testDatabaseName("step");
const settings = { mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl"), database } as const;
/** Least number of documents that this release publishes beside the later one. */
const publishedBeside = 40;
const kills = 3;

/** This release writes no site for an edition; the later one does. */
const metaOf = { today: { edition }, later: { edition, sites: [edition] } } as const;

/**
 * Creates, publishes, withdraws and publishes again one document after the other until the signal
 * aborts, but at least `least` documents. Returns their ids.
 */
async function publishThroughout(service: Publishing, code: keyof typeof metaOf, signal: AbortSignal, least = 0) {
  const ids: string[] = [];
  for (; !signal.aborted || ids.length < least;) {
    const id = await service.create(tenantId, article({ meta: metaOf[code] }));
    for (const transition of ["publish", "withhold", "publish"]) await service.take(tenantId, id, transition);
    const { documentJson } = await service.published.getPublishedDocument({
      tenantId,
      by: { case: "documentId", value: id },
    });
    expect(JSON.parse(Buffer.from(documentJson).toString()).id).toBe(id);
    ids.push(id);
  }
  return ids;
}

const page = { tenantId, type: "core/article", limit: 50, filter: { site: edition } };

/** The ids of all documents that a filter by the edition finds. */
async function idsOf({ published }: Publishing): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ""; ;) {
    const { itemsJson, nextCursor, hasMore } = await published.listPublishedDocuments({ ...page, cursor });
    ids.push(...JSON.parse(Buffer.from(itemsJson).toString()).map(({ id }: { id: string }) => id));
    if (!hasMore) return ids.toSorted();
    cursor = nextCursor;
  }
}

/** Whether a tag of the edition's first page holds, by a conditional read and by revalidation. */
async function stands({ published }: Publishing, ifNoneMatch: string): Promise<[boolean, boolean]> {
  const { notModified } = await published.listPublishedDocuments({ ...page, ifNoneMatch });
  const { etags } = await published.revalidatePublishedPages({ pages: [{ ...page, ifNoneMatch }] });
  return [notModified, etags[0] !== ""];
}

function startMigration(...options: string[]): ChildProcess {
  const main = new URL("./support/invented-migrate.ts", import.meta.url).pathname;
  const env = { ...process.env, MONGODB_URL: settings.mongoUrl, MONGODB_DATABASE: database };
  return spawn(process.execPath, [main, ...options], { env, stdio: ["ignore", "ignore", "inherit"] });
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, "exit");
  return code;
}

/**
 * Kills rewrites midway. A rewrite is stopped while its progress is read, because it could end
 * before the kill otherwise.
 *
 * @returns how many rows each kill left to do
 */
async function killRewrites(db: Db): Promise<number[]> {
  const left: number[] = [];
  const undone = () => db.collection("publications").countDocuments(unfound);
  const total = await undone();
  for (let kill = 1; kill <= kills; kill += 1) {
    const child = startMigration();
    const exited = exitOf(child);
    while (child.exitCode === null && (await undone()) > total * (1 - kill / (kills + 1))) {
      child.kill("SIGCONT");
      await pause(2);
      child.kill("SIGSTOP");
    }
    child.kill("SIGKILL");
    await exited;
    left.push(await undone());
  }
  return left;
}

test("a later release replaces this one under load, though its rewrite of the database is killed midway", async () => {
  await using stack = new AsyncDisposableStack();
  const mongo = stack.use(await openMongo({ url: settings.mongoUrl, database, appName: "step-test" }));
  stack.defer(async () => void (await mongo.db.dropDatabase()));
  const today = await runPublishing(settings);
  expect(await exitOf(startMigration("--prepare"))).toBe(0);

  const later = stack.use(
    await runPublishing({ ...settings, databaseVersion: inventedDatabaseVersion, migrate: "off" }),
  );
  const [beside, ended] = [new AbortController(), new AbortController()];
  const byToday = publishThroughout(today, "today", beside.signal, publishedBeside);
  const byLater = publishThroughout(later, "later", ended.signal);
  // A process of this release may still be started, so an operator can go back.
  await using _again = await runPublishing({ ...settings, migrate: "off" });
  beside.abort();
  const old = await byToday;
  await today[Symbol.asyncDispose]();

  const left = await killRewrites(mongo.db);
  expect(left.filter((rows) => rows > 0 && rows < publishedBeside).length).toBeGreaterThanOrEqual(kills - 1);
  const { base } = documentsDatabaseVersion;
  const needsLater = `is rewriting at version ${base + 1}, and this code needs ${base}: start newer code`;
  await expect(runPublishing({ ...settings, migrate: "off" })).rejects.toThrow(needsLater);
  ended.abort();
  const fresh = await byLater;
  const lacking = await idsOf(later);
  expect(lacking).toEqual(expect.arrayContaining(fresh));
  expect(lacking.length).toBeLessThan(old.length + fresh.length);
  const { etag } = await later.published.listPublishedDocuments(page);
  expect(await stands(later, etag)).toEqual([true, true]);

  expect(await exitOf(startMigration())).toBe(0);
  expect(await mongo.db.collection("database_version").findOne()).toMatchObject({
    version: base + 1,
    phase: "rewritten",
  });
  expect(await stands(later, etag)).toEqual([false, false]);
  expect(await idsOf(later)).toEqual([...old, ...fresh].toSorted());
}, 120_000);
