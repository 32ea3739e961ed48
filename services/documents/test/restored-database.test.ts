/** What an operator does with a restored database before documents starts again. */
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { liftSequences } from "../src/store/lift-sequences.ts";
import { RestoredSnapshots } from "../src/store/restored-snapshots.ts";
import { SequenceFloor } from "../src/store/sequence-floor.ts";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";
import { settlementOf, signatureOf } from "./support/settling.ts";

const servers = { mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") };
const tenantId = "acme";
const opened = new AsyncDisposableStack();
let service: Publishing;
let snapshots: RestoredSnapshots;
let floor: SequenceFloor;

beforeAll(async () => {
  service = opened.use(await runPublishing(servers));
  const mongo = opened.use(await openMongo({ url: servers.mongoUrl, database: service.database, appName: "test" }));
  snapshots = new RestoredSnapshots(mongo.client, mongo.db);
  floor = new SequenceFloor(mongo.db);
});
afterAll(() => opened.disposeAsync());

const lift = (above: number, { renumberPending = false, dryRun = false } = {}) =>
  liftSequences({ snapshots, floor }, { above, renumberPending, dryRun });

/** Makes a document with `times` snapshots: it is published and withheld in turn. */
async function publish(times: number, document = article()): Promise<string> {
  const documentId = await service.create(tenantId, document);
  for (let at = 0; at < times; at += 1) {
    await service.take(tenantId, documentId, at % 2 === 0 ? "publish" : "withhold");
  }
  return documentId;
}

async function settle(documentId: string, ...sequences: number[]): Promise<void> {
  const settlements = sequences.map((sequence) => settlementOf({ tenantId, documentId, sequence: BigInt(sequence) }));
  await service.feed.settleSnapshots({ settlements });
}

async function rowsOf(documentId: string) {
  const rows = await service.db.collection("snapshots").find({ tenantId, documentId }).sort({ sequence: 1 }).toArray();
  return rows.map(({ sequence, status, pending, signature }) => [sequence, status, pending === true, !!signature]);
}

test("after a lift of sequences above 100 a document's next snapshot is number 101, even its first", async () => {
  const known = await publish(2);
  const draft = await service.create(tenantId, article());
  expect(await lift(100)).toContain("numbered above 100");
  await using restarted = await runPublishing({ ...servers, database: service.database });
  expect((await restarted.take(tenantId, known, "publish")).sequence).toBe(101n);
  expect((await restarted.take(tenantId, known, "withhold")).sequence).toBe(102n);
  expect((await restarted.take(tenantId, draft, "publish")).sequence).toBe(101n);
});

test("a dry run of a lift leaves a pending snapshot and the sequence floor as they were", async () => {
  const documentId = await publish(1);
  const [rows, above] = [await rowsOf(documentId), await floor.read()];
  const report = await lift(above + 1_000, { renumberPending: true, dryRun: true });
  expect(report).toContain("nothing was changed");
  expect([await rowsOf(documentId), await floor.read()]).toEqual([rows, above]);
});

test("a lift above a number that a document's snapshots have passed is refused", async () => {
  await expect(lift(101)).rejects.toThrow("--above must be 102 at least");
});

test("a lift above 100 after a lift above 200 leaves the sequence floor at 200", async () => {
  expect(await lift(200)).toContain("numbered above 200");
  expect(await lift(100)).toContain("was lifted above 200 before");
  expect(await floor.read()).toBe(200);
});

test("a lift can renumber a document's snapshots from its first pending one on", async () => {
  const documentId = await publish(3);
  await settle(documentId, 1, 3);
  const untouched = await publish(1);
  await settle(untouched, 1);
  expect(await lift(300, { renumberPending: true })).toMatch(/[1-9]\d* snapshots of [1-9]\d* documents renumbered/);
  expect(await rowsOf(documentId)).toEqual([
    [1, "usable", false, true],
    [301, "withheld", true, false],
    [302, "usable", true, false],
  ]);
  expect(await rowsOf(untouched)).toEqual([[1, "usable", false, true]]);
  const publication = await service.db.collection("publications").findOne({ tenantId, documentId });
  expect(publication?.["sequence"]).toBe(302);
  await using restarted = await runPublishing({ ...servers, database: service.database });
  expect((await restarted.take(tenantId, documentId, "withhold")).sequence).toBe(303n);
});

test("a transition that is repeated after a lift is answered with its snapshot's new number", async () => {
  const documentId = await service.create(tenantId, article());
  const transition = { documentId, name: "publish", expectedVersion: 1n, requestToken: "t1" };
  const publishOnce = () => service.documents.transitionDocument({ tenantId, transition }, as("admin"));
  expect((await publishOnce()).sequence).toBe(1n);
  await lift(350, { renumberPending: true });
  expect((await publishOnce()).sequence).toBe(351n);
});

test("a lift that is repeated renumbers nothing", async () => {
  const documentId = await publish(1);
  await lift(400, { renumberPending: true });
  const renumbered = await rowsOf(documentId);
  expect(renumbered).toEqual([[401, "usable", true, false]]);
  expect(await lift(400, { renumberPending: true })).toContain("0 snapshots of 0 documents renumbered");
  expect(await rowsOf(documentId)).toEqual(renumbered);
});

test("a snapshot's signature is listed with its statement, signing number and value", async () => {
  const documentId = await publish(1);
  await settle(documentId, 1);
  const lines: object[] = [];
  for await (const line of snapshots.signatures()) if (line.documentId === documentId) lines.push(line);
  const value = Buffer.alloc(64, 7).toString("base64");
  const { statement } = signatureOf({ tenantId, documentId, sequence: 1n });
  expect(lines).toEqual([{ tenantId, documentId, sequence: 1, statement, signingNumber: 1, value }]);
});

test("of given snapshots those are listed that the database lacks", async () => {
  const documentId = await publish(1);
  const keys = [1, 2].map((sequence) => ({ tenantId, documentId, sequence }));
  expect(await snapshots.missing(keys)).toEqual([keys[1]]);
  expect(await snapshots.missing([])).toEqual([]);
});
