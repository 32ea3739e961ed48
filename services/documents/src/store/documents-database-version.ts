import type { DatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { HeadStore } from "./head-store.ts";
import { endKeptPages } from "./end-kept-pages.ts";
import { PublicationStore } from "./publication-store.ts";
import { RevisionStore } from "./revision-store.ts";
import { SchemaStore } from "./schema-store.ts";
import { SnapshotStore } from "./snapshot-store.ts";
import { TransitionStore } from "./transition-store.ts";
import { WorkflowStore } from "./workflow-store.ts";

/**
 * Until the first release raise `base` when rows change, also for a new key of
 * `publication-keys.ts`, whose column existing rows lack.
 */
export const documentsDatabaseVersion: DatabaseVersion = {
  base: 2,
  steps: [],
  indexes: {
    ...HeadStore.indexes,
    ...RevisionStore.indexes,
    ...SchemaStore.indexes,
    ...TransitionStore.indexes,
    ...PublicationStore.indexes,
    ...SnapshotStore.indexes,
    ...WorkflowStore.indexes,
  },
  onRewritten: endKeptPages,
};
