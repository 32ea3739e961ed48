import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { ensureIndexes } from "@vidimus/kit/mongo/indexes";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { createLogger } from "@vidimus/kit/telemetry/log";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { ManagedEndpoint } from "../src/domain/endpoint.ts";
import { startEndingOld } from "../src/lanes/end-old-deliveries.ts";
import { deliveryIndexes, deliveryRows } from "../src/store/delivery-indexes.ts";
import { LaneEndings } from "../src/store/lane-endings.ts";
import { LaneStore } from "../src/store/lane-store.ts";
import type { DeliveryRow } from "../src/store/rows.ts";

const hourMs = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms);
let mongo: Awaited<ReturnType<typeof openMongo>>;
const rows = () => deliveryRows(mongo.db);

beforeAll(async () => {
  const database = testDatabaseName("endings");
  mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "lane-endings-test" });
  await ensureIndexes(mongo.db, { deliveries: deliveryIndexes });
});
afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo[Symbol.asyncDispose]();
});

function rowOf(documentId: string, sequence: number, createdAt: Date, more: Partial<DeliveryRow> = {}): DeliveryRow {
  const names = { _id: randomUUID(), tenantId: "acme", endpointId: "e1", documentId, webhookId: randomUUID() };
  const counts = { sequence, signingNumber: 1, bodyBytes: 2, generation: 0, attemptCount: 0, retryCount: 0 };
  return { ...names, ...counts, state: "pending", attempts: [], createdAt, ...more };
}

test("old lanes are given up although 600 lanes that have yielded to younger rows come before them", async () => {
  const dueAt = ago(hourMs);
  const yielded = Array.from({ length: 600 }, () => {
    const documentId = randomUUID();
    const heir = rowOf(documentId, 2, ago(hourMs));
    return [rowOf(documentId, 1, ago(80 * hourMs), { nextAttemptAt: dueAt, yieldedTo: heir._id }), heir];
  });
  const old = [dueAt, ago(hourMs / 2)].map((nextAttemptAt) =>
    rowOf(randomUUID(), 1, ago(80 * hourMs), { nextAttemptAt }),
  );
  await rows().insertMany([...yielded.flat(), ...old]);
  const endpoint = { tenantId: "acme", endpointId: "e1" } as ManagedEndpoint;
  await using _ending = startEndingOld({
    lanes: new LaneStore(rows(), "test"),
    laneEndings: new LaneEndings(rows()),
    endpoints: { findMany: async () => [endpoint], recheckUnopened: async () => {} },
    metrics: { noteGivenUp: () => {} },
    announceExpiry: async () => {},
    isPreferredFor: () => true,
    ageMsMax: 72 * hourMs,
    endOldMs: 100,
    log: createLogger("test", "silent"),
  });
  await expect.poll(() => rows().countDocuments({ state: "exhausted" }), { timeout: 5_000 }).toBe(2);
  expect(await rows().countDocuments({ state: "pending" })).toBe(1_200);
});
