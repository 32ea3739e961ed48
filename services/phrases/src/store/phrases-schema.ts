import type { Schema } from "@vidimus/kit/mongo/schema";
import { PhraseStore } from "./phrase-store.ts";

/** How phrases keeps its rows. */
export const phrasesSchema: Schema = { base: 1, steps: [], indexes: PhraseStore.indexes };
