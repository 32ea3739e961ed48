import type { DatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { SentFormStore } from "./sent-form-store.ts";
import { SessionStore } from "./session-store.ts";

export const consoleDatabaseVersion: DatabaseVersion = {
  base: 1,
  steps: [],
  indexes: { ...SessionStore.indexes, ...SentFormStore.indexes },
};
