import { versionName } from "@vidimus/kit/mongo/database-version";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { keyNames } from "../src/domain/published-reads/publication-keys.ts";
import { documentsDatabaseVersion } from "../src/store/documents-database-version.ts";

const manifest = new URL("../../../deploy/k8s/base/migration/documents.yaml", import.meta.url);

/**
 * When this fails, indexes or `base` have changed: give the Job the expected name. When the columns
 * of rows have changed, raise `base` before that.
 */
test("the migration Job is named after the database version and indexes, so a change of either renames it", async () => {
  const [, name] = /^ {2}name: (documents-migrate-.*)$/m.exec(await readFile(manifest, "utf8")) ?? [];
  expect(name).toBe(`documents-migrate-${versionName(documentsDatabaseVersion)}`);
  const indexes = { ...documentsDatabaseVersion.indexes, versions: { another: { key: { another: 1 } } } } as const;
  const changed = [
    { ...documentsDatabaseVersion, base: documentsDatabaseVersion.base + 1 },
    { ...documentsDatabaseVersion, indexes },
  ].map(versionName);
  expect(new Set([versionName(documentsDatabaseVersion), ...changed]).size).toBe(3);
});

/**
 * When this fails, the publication keys have changed, and rows that exist lack the columns of new
 * ones: raise `base`, and name all keys here.
 */
test("the publication keys and the database's base version are those that this test lists together", () => {
  const keys = ["slug", "host", "primary", "tag", "site", "language"];
  expect({ base: documentsDatabaseVersion.base, keys: keyNames }).toEqual({ base: 2, keys });
});
