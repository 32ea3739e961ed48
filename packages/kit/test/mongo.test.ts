import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { ConfigError } from "@vidimus/kit/env";
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

test.each([
  ["a TLS file that does not exist", "mongodb://127.0.0.1:1/?tls=true&tlsCAFile=/no/ca.pem"],
  ["a SRV name that does not exist", "mongodb+srv://ida:secret@cluster.invalid/"],
])("a MONGODB_URL with %s is refused by its name, without its password", async (_, url) => {
  const opened = openMongo({ url, database: testDatabaseName("refused"), appName: "refused-test" });
  const error: unknown = await opened.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toContain("MONGODB_URL: ");
  expect(String(error)).not.toContain("secret");
});

test("the mongod of the dev stack is started with the compressors snappy and zstd only", async () => {
  await using client = new MongoClient(inject("mongoUrl"));
  const { parsed } = await client.db("admin").command({ getCmdLineOpts: 1 });
  expect(parsed).toMatchObject({ net: { compression: { compressors: "snappy,zstd" } } });
});
