import { profiled } from "@vidimus/devstack/testing/profile";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { ensureIndexes } from "@vidimus/kit/mongo/indexes";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import type { Collection } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { deliveryIndexes, deliveryRows } from "../src/store/delivery-indexes.ts";
import { DeliveryStore } from "../src/store/delivery-store.ts";
import { LaneStore } from "../src/store/lane-store.ts";
import type { DeliveryRow } from "../src/store/rows.ts";

const database = testDatabaseName("lanes");
let mongo: Awaited<ReturnType<typeof openMongo>>;
let store: LaneStore;
const rows = () => mongo.db.collection("deliveries");

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "lane-store-test" });
  store = new LaneStore(deliveryRows(mongo.db), "test");
  await ensureIndexes(mongo.db, { deliveries: deliveryIndexes });
});
beforeEach(async () => void (await rows().deleteMany({})));
afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo[Symbol.asyncDispose]();
});

const bearerOf = (endpointId: string, nextAttemptAt: Date) => {
  return { endpointId, tenantId: "acme", documentId: randomUUID(), sequence: 1, state: "pending", nextAttemptAt };
};

describe("the schedule", () => {
  it("reads four rows at most for two endpoints, one of which has 2,000 due lanes", async () => {
    const due = new Date();
    await rows().insertMany([...Array.from({ length: 2_000 }, () => bearerOf("busy", due)), bearerOf("other", due)]);
    const reads = { "command.aggregate": "deliveries" };
    const { result: schedule, entries } = await profiled(mongo.db, reads, () => store.schedule());
    expect(schedule.map(({ endpointId }) => endpointId)).toEqual(["busy", "other"]);
    expect(entries[0]!["docsExamined"]).toBeLessThanOrEqual(4);
  });
});

describe("the backlog", () => {
  it("reads eight rows at most for three endpoints, one of which has 2,000 waiting rows", async () => {
    const due = new Date();
    const at = (n: number) => new Date(due.getTime() - n * 1000);
    const wait = (endpointId: string, n: number) => ({ ...bearerOf(endpointId, due), createdAt: at(n), generation: 0 });
    const busy = Array.from({ length: 2_000 }, (_, n) => wait("busy", (n * 7) % 2_000));
    await rows().insertMany([...busy, wait("other", 3_000), wait("disabled", 4_000)]);
    const reads = { "command.aggregate": "deliveries" };
    const { result: backlog, entries: found } = await profiled(mongo.db, reads, () => store.backlog(["disabled"]));
    expect(backlog).toEqual([
      { endpointId: "other", oldestAt: at(3_000) },
      { endpointId: "busy", oldestAt: at(1_999) },
    ]);
    expect(found.at(-1)!["docsExamined"]).toBeLessThanOrEqual(8);
    expect(found.at(-1)!["keysExamined"]).toBeLessThanOrEqual(16);
  });
});

describe("a row behind the bearer", () => {
  const now = new Date();
  const attemptedAt = new Date(now.getTime() + 5);
  const inAnHour = new Date(now.getTime() + 3_600_000);

  /**
   * Expedites a lane whose bearer is attempted 5 ms from now, and returns when it is due.
   *
   * @param knownSince the earliest time at which the new row may have been stored; absent when it
   * is stored now
   */
  async function dueAt(knownSince?: Date): Promise<Date> {
    const bearer = bearerOf("e1", inAnHour);
    const { insertedId } = await rows().insertOne({ ...bearer, attempts: [{ at: attemptedAt }] });
    const { tenantId, documentId, endpointId } = bearer;
    await store.expedite([{ tenantId, documentId, endpointId, ...(knownSince ? { knownSince } : {}) }], now);
    return (await rows().findOne({ _id: insertedId }))!["nextAttemptAt"];
  }

  it("makes the lane due at once, although the bearer was attempted while the row was being stored", async () => {
    expect(await dueAt()).toEqual(now);
  });

  it("leaves the lane in backoff only if an earlier ingest may have stored it before the last attempt", async () => {
    expect(await dueAt(now)).toEqual(inAnHour);
    expect(await dueAt(new Date(attemptedAt.getTime() + 1))).toEqual(now);
  });
});

describe("a row that is stored while its lane goes from one bearer to the next", () => {
  const now = new Date();
  const lane = { tenantId: "acme", documentId: randomUUID(), endpointId: "e1" };
  const row = (sequence: number, fields: object) => {
    const ids = { deliveryId: randomUUID(), webhookId: `snp_${sequence}`, sequence, signingNumber: 1 };
    return { ...lane, _id: ids.deliveryId, ...ids, state: "pending", generation: 0, attempts: [], ...fields };
  };

  /**
   * A store that awaits `then` after its first bulk write, as if another process wrote just then.
   */
  const storeThat = (then: () => Promise<unknown>) => {
    let isFirst = true;
    const bulkWrite: Collection<DeliveryRow>["bulkWrite"] = async (...of) => {
      const result = await deliveryRows(mongo.db).bulkWrite(...of);
      if (isFirst) await then();
      isFirst = false;
      return result;
    };
    const collection = new Proxy(deliveryRows(mongo.db), {
      get: (target, name) => {
        if (name === "bulkWrite") return bulkWrite;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return new LaneStore(collection, "test");
  };

  it("sets isFollowed on the next bearer, which another process has just leased", async () => {
    const lease = { holder: "other", until: new Date(now.getTime() + 20_000), token: "t" };
    const [next, arrived] = [row(2, {}), row(3, {})];
    await rows().insertMany([next, arrived] as object[]);
    // The old bearer has ended. Another process makes row 2 the next one just after this process
    // has found no bearer.
    const promote = () =>
      rows().updateOne({ sequence: 2 }, { $set: { nextAttemptAt: lease.until, lease }, $inc: { generation: 1 } });
    await storeThat(promote).expedite([lane], now);
    expect(await rows().findOne({ sequence: 2 })).toMatchObject({ isFollowed: true, generation: 1, lease });
    expect(await rows().findOne({ sequence: 3 })).not.toHaveProperty("nextAttemptAt");
  });

  it("does not become the bearer when the whole lane is delivered meanwhile", async () => {
    await rows().insertMany([row(2, {}), row(3, {})] as object[]);
    const end = () => rows().updateMany({}, { $set: { state: "delivered" } });
    await storeThat(end).expedite([lane], now);
    expect(await rows().countDocuments({ nextAttemptAt: { $exists: true } })).toBe(0);
  });
});

describe("rows of a lane that are stored together", () => {
  const now = new Date();
  const lane = { tenantId: "acme", documentId: randomUUID(), endpointId: "e1" };
  const delivery = (sequence: number, standing: "leased" | "behind") => {
    const ids = { deliveryId: randomUUID(), webhookId: `snp_${sequence}`, sequence, signingNumber: 1 };
    return { ...lane, ...ids, createdAt: now, bodyBytes: 2_000, standing };
  };
  const stored = async () =>
    (await rows().find().sort({ $natural: 1 }).toArray()).map((row) => [row["sequence"], "lease" in row]);

  it("are stored older before newer when another row is the lane's bearer already", async () => {
    const deliveries = new DeliveryStore(deliveryRows(mongo.db), "test");
    expect(await deliveries.insert([delivery(1, "leased")], now)).toEqual(["leased"]);
    const [second, third] = [delivery(2, "leased"), delivery(3, "behind")];
    expect(await deliveries.insert([second, third], now)).toEqual(["behind", "behind"]);
    expect(await stored()).toEqual([
      [1, true],
      [2, false],
      [3, false],
    ]);
    const again = [second, third, delivery(4, "behind")];
    expect(await deliveries.insert(again, now)).toEqual(["known", "known", "behind"]);
  });

  it("are stored bearer first when the lane is new", async () => {
    const standings = await new DeliveryStore(deliveryRows(mongo.db), "test").insert(
      [delivery(1, "leased"), delivery(2, "behind")],
      now,
    );
    expect(standings).toEqual(["leased", "behind"]);
    expect(await stored()).toEqual([
      [1, true],
      [2, false],
    ]);
  });
});
