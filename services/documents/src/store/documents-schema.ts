import type { Schema } from "@vidimus/kit/mongo/schema";
import { DocumentStore } from "./document-store.ts";
import { endKeptPages } from "./end-kept-pages.ts";
import { PublicationStore } from "./publication-store.ts";
import { RevisionStore } from "./revision-store.ts";
import { SchemaStore } from "./schema-store.ts";
import { SnapshotStore } from "./snapshot-store.ts";
import { TransitionStore } from "./transition-store.ts";
import { WorkflowStore } from "./workflow-store.ts";

/** How documents keeps its rows. */
export const documentsSchema: Schema = {
  base: 1,
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
