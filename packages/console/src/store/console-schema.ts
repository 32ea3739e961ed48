import type { Schema } from "@vidimus/kit/mongo/schema";
import { SessionStore } from "./session-store.ts";

/** How the console keeps its rows. */
export const consoleSchema: Schema = { base: 1, steps: [], indexes: SessionStore.indexes };
