import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { randomUUID } from "node:crypto";
import { expect, inject, test } from "vitest";
import { deliveryIndexes } from "../src/store/delivery-indexes.ts";
import { LaneStore } from "../src/store/lane-store.ts";

test("the schedule costs a row an endpoint, however many are due", async () => {
  const database = testDatabaseName("schedule");
  await using mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "schedule-test" });
  const rows = mongo.db.collection("webhook_deliveries");
  await rows.createIndexes(deliveryIndexes);
  const due = new Date();
  const row = (endpointId: string) => {
    return {
      endpointId,
      tenantId: "acme",
      documentId: randomUUID(),
      sequence: 1,
      state: "pending",
      nextAttemptAt: due,
    };
  };
  await rows.insertMany([...Array.from({ length: 2_000 }, () => row("busy")), row("other")]);
  await mongo.db.command({ profile: 2 });
  const schedule = await new LaneStore(mongo.db, "test").schedule();
  await mongo.db.command({ profile: 0 });
  const read = await mongo.db.collection("system.profile").findOne({ "command.aggregate": "webhook_deliveries" });
  await mongo.db.dropDatabase();
  expect(schedule.map(({ endpointId }) => endpointId)).toEqual(["busy", "other"]);
  expect(read!["docsExamined"]).toBeLessThanOrEqual(4);
});
