import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { schemaHash } from "@vidimus/devstack/testing/schema-hash";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { readFile } from "node:fs/promises";
import { expect, inject, test } from "vitest";
import { prepareDatabase } from "../src/store/migrate.ts";
import { schemaVersion } from "../src/store/rollout.ts";

const manifest = new URL("../../../deploy/k8s/base/migration/documents.yaml", import.meta.url);

/** When this fails, the schema has changed: raise `schemaVersion` and give the Job the expected name. */
test("the migration Job is named by the schema that it makes, so that another schema is another Job", async () => {
  const database = testDatabaseName("migration_job");
  await using mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "migration-job-test" });
  await prepareDatabase(mongo);
  const hash = await schemaHash(mongo.db);
  const [, name] = /^ {2}name: (documents-migrate-.*)$/m.exec(await readFile(manifest, "utf8")) ?? [];
  await mongo.db.collection("versions").createIndex({ another: 1 });
  const changed = await schemaHash(mongo.db);
  await mongo.db.dropDatabase();
  expect(name).toBe(`documents-migrate-v${schemaVersion}-${hash}`);
  expect(changed).not.toBe(hash);
});
