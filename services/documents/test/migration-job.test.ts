import { schemaName } from "@vidimus/kit/mongo/schema";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { documentsSchema } from "../src/store/documents-schema.ts";

const manifest = new URL("../../../deploy/k8s/base/migration/documents.yaml", import.meta.url);

/** When this fails, the schema has changed: give the Job the expected name. */
test("the migration Job is named by the schema that it makes, so that another schema is another Job", async () => {
  const [, name] = /^ {2}name: (documents-migrate-.*)$/m.exec(await readFile(manifest, "utf8")) ?? [];
  expect(name).toBe(`documents-migrate-${schemaName(documentsSchema)}`);
  const indexes = { ...documentsSchema.indexes, versions: { another: { key: { another: 1 } } } } as const;
  const changed = [
    { ...documentsSchema, base: 2 },
    { ...documentsSchema, indexes },
  ].map(schemaName);
  expect(new Set([schemaName(documentsSchema), ...changed]).size).toBe(3);
});
