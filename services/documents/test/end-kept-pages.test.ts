import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { expect, inject, test } from "vitest";
import { endKeptPages } from "../src/store/end-kept-pages.ts";

test("every clock gets a new tick for all its types, even a clock that is ahead of the time", async () => {
  await using mongo = await openMongo({
    url: inject("mongoUrl"),
    database: testDatabaseName("kept_pages"),
    appName: "kept-pages-test",
  });
  const ahead = new Date(Date.now() + 3_600_000);
  const types = (at: Date) => ({ "core/article": at, "core/tag": new Date(1), "own/a.b$c": at });
  const clocks = mongo.db.collection("clocks");
  const began = new Date();
  await clocks.insertMany([
    { tenantId: "behind", tick: new Date(2), types: types(new Date(2)) },
    { tenantId: "ahead", tick: ahead, types: types(ahead) },
  ]);
  await endKeptPages(mongo);
  const [behind, before] = await clocks.find().sort({ tenantId: -1 }).toArray();
  await mongo.db.dropDatabase();
  expect(behind?.["tick"].getTime()).toBeGreaterThanOrEqual(began.getTime() - 1_000);
  expect(behind?.["types"]).toEqual({ ...types(behind?.["tick"]), "core/tag": behind?.["tick"] });
  expect(before?.["tick"]).toEqual(new Date(ahead.getTime() + 1));
  expect(Object.values(before?.["types"])).toEqual([1, 2, 3].map(() => before?.["tick"]));
});
