import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { schemaHash } from "@vidimus/devstack/testing/schema-hash";
import { MongoClient } from "mongodb";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { kekFiles } from "./running-signing.ts";

const manifest = new URL("../../../deploy/k8s/base/migration/signing.yaml", import.meta.url);

/** When this fails, the schema has changed: give the Job the expected name. */
test("the migration Job is named by the schema that it makes, so that another schema is another Job", async () => {
  using keks = kekFiles();
  await using client = new MongoClient(inject("mongoUrl"));
  const database = testDatabaseName("signing_job");
  const settings = { MONGODB_URL: inject("mongoUrl"), MONGODB_DATABASE: database, SIGNING_KEK_FILE: keks.make(1) };
  const env = { PATH: process.env["PATH"], ...settings };
  const program = join(import.meta.dirname, "../src/migrate.ts");
  // Twice: the Job also runs on a database that needs nothing.
  for (const _ of [1, 2]) expect(spawnSync(process.execPath, [program], { env }).status).toBe(0);
  const hash = await schemaHash(client.db(database));
  const [, name] = /^ {2}name: (signing-migrate-.*)$/m.exec(await readFile(manifest, "utf8")) ?? [];
  expect(name).toBe(`signing-migrate-${hash}`);
});
