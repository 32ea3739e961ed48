import type { DatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { PhraseStore } from "./phrase-store.ts";

/** The version and indexes of phrases' rows. */
export const phrasesDatabaseVersion: DatabaseVersion = { base: 1, steps: [], indexes: PhraseStore.indexes };
