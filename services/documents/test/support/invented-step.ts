import type { DatabaseVersion, VersionedDatabase } from "@vidimus/kit/mongo/database-version";
import { Binary } from "mongodb";
import { documentsDatabaseVersion } from "../../src/store/documents-database-version.ts";
import type { PublicationRow } from "../../src/store/publication-row.ts";

const chunkRows = 25;

/** Published rows that the step has yet to rewrite: a filter by their edition misses them. */
export const unfound = { document: { $exists: true }, site: { $exists: false } };

/**
 * The database version of an invented later release of documents, in which a filter by site finds a
 * document by its `meta.edition`, too.
 */
export const inventedDatabaseVersion: DatabaseVersion = {
  ...documentsDatabaseVersion,
  steps: [{ version: documentsDatabaseVersion.base + 1, prepare: async () => {}, rewrite: findByEdition }],
};

async function findByEdition({ db }: VersionedDatabase): Promise<void> {
  const publications = db.collection<PublicationRow>("publications");
  for (;;) {
    const rows = await publications.find(unfound).limit(chunkRows).toArray();
    if (rows.length === 0) return;
    for (const { _id, document = new Binary() } of rows) {
      const { edition } = JSON.parse(Buffer.from(document.value()).toString()).meta;
      await publications.updateOne({ _id, ...unfound }, { $set: { site: [edition] } });
    }
  }
}
