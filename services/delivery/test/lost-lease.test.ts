import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { ensureIndexes } from "@vidimus/kit/mongo/indexes";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { expect, inject, test } from "vitest";
import { deliveryIndexes, deliveryRows } from "../src/store/delivery-indexes.ts";
import { advance } from "../src/domain/advance-lane.ts";
import { promisedRetries } from "../src/domain/retry-plan.ts";
import { LaneJournal } from "../src/store/lane-journal.ts";
import { randomUUID } from "node:crypto";
import { DeliveryStore } from "../src/store/delivery-store.ts";
import { LaneStore } from "../src/store/lane-store.ts";

const hourLater = () => new Date(Date.now() + 3_600_000);

/** Two processes. The second has claimed a lane after the first one's lease had run out. */
async function takeOver(name: string) {
  const mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName(name), appName: name });
  const rows = deliveryRows(mongo.db);
  await ensureIndexes(mongo.db, { deliveries: deliveryIndexes });
  const createdAt = new Date(Date.now() - 1_000);
  const names = { tenantId: "acme", endpointId: "e1", documentId: "d1", deliveryId: "one", webhookId: "one" };
  const row = { ...names, sequence: 1, signingNumber: 1, createdAt, bodyBytes: 2_000, standing: "due" as const };
  const newer = { ...row, deliveryId: "two", webhookId: "two", sequence: 2, standing: "behind" as const };
  await new DeliveryStore(rows, "first").insert([row, newer], createdAt);
  const [first, second] = [new LaneStore(rows, "first"), new LaneStore(rows, "second")];
  const scope = () => ({ endpointId: "e1", dueBy: new Date(), limit: 1 });
  const [lost] = await first.claim(scope(), new Date());
  const until = hourLater();
  const [held] = await second.claim(scope(), until);
  const lease = async () => {
    const found = await rows.findOne({ _id: "one" });
    return { holder: found?.lease?.holder, dueAt: found?.nextAttemptAt };
  };
  const close = async () => {
    await mongo.db.dropDatabase();
    await mongo[Symbol.asyncDispose]();
  };
  return { rows, first, second, lost: lost!, held: held!, until, lease, [Symbol.asyncDispose]: close };
}

test("a process cannot renew a lease that another process has taken", async () => {
  await using opened = await takeOver("renewals");
  const { first, second, lost, held, until, lease } = opened;
  expect(await first.renew(lost, new Date(until.getTime() + 1_000))).toBe(false);
  expect(await lease()).toEqual({ holder: "second", dueAt: until });
  expect(await second.renew(held, until)).toBe(true);
});

test("a process cannot release a lease that another process has taken", async () => {
  await using opened = await takeOver("releases");
  const { first, second, lost, held, until, lease } = opened;
  await first.release([lost], new Date());
  expect(await lease()).toEqual({ holder: "second", dueAt: until });
  await second.release([held], new Date());
  expect(await lease()).toMatchObject({ holder: undefined });
});

test("a process that lost its lease does not give up a row that has become the bearer since", async () => {
  await using opened = await takeOver("endings");
  const { rows, lost, held } = opened;
  const attempt = { endedAt: new Date(), isProbe: false };
  const outcome = { startedAt: new Date(), tookMs: 1, status: 204 };
  const record = { outcome, webhookId: "one", token: randomUUID() };
  const accepted = advance(held.state, { ...attempt, verdict: "accepted" }, promisedRetries, 0);
  await new LaneJournal(rows, "second").record([{ ...record, before: held, step: accepted }]);
  const before = { ...lost, state: { ...lost.state, yieldedTo: "two" } };
  const late = { ...attempt, verdict: "failed" as const, endedAt: new Date(Date.now() + 100 * 3_600_000) };
  const failed = { ...record, webhookId: "two", token: randomUUID() };
  const step = advance(before.state, late, promisedRetries, 0);
  expect(step).toMatchObject({ attempted: { deliveryId: "two" }, olderEnd: "exhausted" });
  expect(await new LaneJournal(rows, "first").record([{ ...failed, before, step }])).toEqual([{ kind: "lost" }]);
  expect(await rows.findOne({ _id: "two" })).toMatchObject({ state: "pending", nextAttemptAt: expect.any(Date) });
});
