import type { DatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { PhraseStore } from "./phrase-store.ts";

export const phrasesDatabaseVersion: DatabaseVersion = { base: 1, steps: [], indexes: PhraseStore.indexes };
