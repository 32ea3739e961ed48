import { MongoClient } from "mongodb";
import { expect, inject, test } from "vitest";
import { databaseUrl, testDatabaseName } from "../src/testing/database.ts";

test("the provided MongoDB is a replica set that runs transactions", async () => {
  await using client = new MongoClient(databaseUrl(inject("mongoUrl"), testDatabaseName()));
  const rows = client.db().collection("rows");
  await client.withSession((session) =>
    session.withTransaction(() => rows.insertOne({ kept: true }, { session }), {
      writeConcern: { w: "majority", j: true },
    }),
  );
  expect(await rows.countDocuments()).toBe(1);
});
