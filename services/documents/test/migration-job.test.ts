import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import type { Db } from "mongodb";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, inject, test } from "vitest";
import { prepareDatabase } from "../src/store/migrate.ts";
import { schemaVersion } from "../src/store/rollout.ts";

const manifest = new URL("../../../deploy/k8s/base/migration/job.yaml", import.meta.url);

/** Hashes the names of the collections and all properties of their indexes. */
async function schemaHash(db: Db): Promise<string> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const names = collections.map(({ name }) => name).sort();
  const schema = await Promise.all(
    names.map(async (name) => {
      const indexes = await db.collection(name).indexes();
      // The order of the keys of an index counts; that of its other properties and of the indexes does not.
      const texts = indexes.map(({ v: _version, key, ...properties }) =>
        JSON.stringify([
          Object.entries(key),
          Object.entries(properties).sort(([one], [other]) => (one < other ? -1 : 1)),
        ]),
      );
      return [name, texts.sort()];
    }),
  );
  return createHash("sha256").update(JSON.stringify(schema)).digest("hex").slice(0, 8);
}

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
