import type { DatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { LedgerStore } from "./ledger-store.ts";
import { SignerStore } from "./signer-store.ts";

export const signingDatabaseVersion: DatabaseVersion = {
  base: 2,
  steps: [],
  indexes: { ...LedgerStore.indexes, ...SignerStore.indexes },
};
