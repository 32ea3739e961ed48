import type { Schema } from "@vidimus/kit/mongo/schema";
import { DocumentStore } from "./document-store.ts";
import { endKeptPages } from "./end-kept-pages.ts";
import { PublicationStore } from "./publication-store.ts";
import { RevisionStore } from "./revision-store.ts";
import { SchemaStore } from "./schema-store.ts";
import { SnapshotStore } from "./snapshot-store.ts";
import { TransitionStore } from "./transition-store.ts";
import { WorkflowStore } from "./workflow-store.ts";

/**
 * How documents keeps its rows. Raise `base` when they change: with a new key of `publication-keys.ts`, too,
 * since the rows that there are lack its column.
 */
export const documentsSchema: Schema = {
  base: 2,
  steps: [],
  indexes: {
    ...DocumentStore.indexes,
    ...RevisionStore.indexes,
    ...SchemaStore.indexes,
    ...TransitionStore.indexes,
    ...PublicationStore.indexes,
    ...SnapshotStore.indexes,
    ...WorkflowStore.indexes,
  },
  onRewritten: endKeptPages,
};
