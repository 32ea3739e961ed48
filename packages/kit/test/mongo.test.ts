import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { MongoClient } from "mongodb";
import { expect, inject, test } from "vitest";

test("a MONGODB_URL that asks for zlib compression, alone or in a list, is refused", async () => {
  for (const compressors of ["zlib", "none,zlib"]) {
    const url = `${inject("mongoUrl")}&compressors=${compressors}`;
    const opened = openMongo({ url, database: testDatabaseName("zlib"), appName: "zlib-test" }).then(async (mongo) =>
      mongo[Symbol.asyncDispose](),
    );
    await expect(opened).rejects.toThrow(/^MONGODB_URL: .*zlib/);
  }
});

test("the mongod of the dev stack is started with the compressors snappy and zstd only", async () => {
  await using client = new MongoClient(inject("mongoUrl"));
  const { parsed } = await client.db("admin").command({ getCmdLineOpts: 1 });
  expect(parsed).toMatchObject({ net: { compression: { compressors: "snappy,zstd" } } });
});
