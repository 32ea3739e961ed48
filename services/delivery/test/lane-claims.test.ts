import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { expect, inject, test } from "vitest";
import { DeliveryStore } from "../src/store/delivery-store.ts";
import type { NewDelivery } from "../src/store/delivery-rows.ts";
import { LaneStore } from "../src/store/lane-store.ts";

/** The fail point applies only to connections of this name. */
const appName = "lane-claims-test";

test("lanes that were leased and could not be loaded are due at once, not when their leases end", async () => {
  const database = testDatabaseName("claims");
  await using mongo = await openMongo({ url: inject("mongoUrl"), database, appName });
  const deliveries = new DeliveryStore(mongo.db, "test");
  await deliveries.ensureIndexes();
  const lanes = new LaneStore(mongo.db, "test");
  const createdAt = new Date(Date.now() - 1_000);
  const rows = ["a", "b", "c"].map((documentId): NewDelivery => {
    const names = { tenantId: "acme", endpointId: "e1", documentId, deliveryId: documentId, webhookId: documentId };
    return Object.assign(names, { sequence: 1, signingNumber: 1, createdAt, place: "due" as const });
  });
  await deliveries.insert(rows, createdAt);
  const failLoading = (mode: object | string) =>
    mongo.db.admin().command({
      configureFailPoint: "failCommand",
      mode,
      data: { failCommands: ["find"], errorCode: 2, appName },
    });
  // The first find reads what is due, the second one what is to be sent.
  await failLoading({ skip: 1 });
  const scope = { endpointId: "e1", dueBy: new Date(), limit: 256 };
  const hourLater = () => new Date(Date.now() + 3_600_000);
  await expect(lanes.claim(scope, hourLater())).rejects.toThrow("failCommand");
  await failLoading("off");
  const claimed = await lanes.claim({ ...scope, dueBy: new Date() }, hourLater());
  await mongo.db.dropDatabase();
  expect(claimed.map(({ bearer }) => bearer.deliveryId).toSorted()).toEqual(["a", "b", "c"]);
});
