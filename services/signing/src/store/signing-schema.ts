import type { Schema } from "@vidimus/kit/mongo/schema";
import { LedgerStore } from "./ledger-store.ts";
import { SignerStore } from "./signer-store.ts";

/** How signing keeps its rows. */
export const signingSchema: Schema = {
  base: 2,
  steps: [],
  indexes: { ...LedgerStore.indexes, ...SignerStore.indexes },
};
