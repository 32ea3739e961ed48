import type { Db } from "mongodb";
import { createHash } from "node:crypto";

/**
 * Hashes the names of a database's collections and all properties of their indexes: the end of the
 * name of a migration Job (deploy/k8s/base/migration).
 */
export async function schemaHash(db: Db): Promise<string> {
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
