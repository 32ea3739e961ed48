import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { expect, inject, test } from "vitest";
import { ResendStore } from "../src/store/resend-store.ts";

test("a sent snapshot is not removed when it was added again since it was read as due", async () => {
  const name = testDatabaseName("resends");
  await using mongo = await openMongo({ url: inject("mongoUrl"), database: name, appName: "resend-store-test" });
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(async () => void (await mongo.db.dropDatabase()));
  const store = new ResendStore(mongo.db);
  const snapshot = { tenantId: "acme", documentId: "d1", sequence: 1 };
  const now = new Date();
  await store.add([snapshot], new Date(now.getTime() - 1_000));
  const sent = await store.due("acme", now, 10);
  await store.add([snapshot], now);
  await store.remove(sent);
  const again = await store.due("acme", now, 10);
  expect(again).toMatchObject([snapshot]);
  await store.remove(again);
  expect(await store.isEmpty()).toBe(true);
});
