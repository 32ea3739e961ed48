import { asDomainError } from "@vidimus/kit/rpc/error-table";
import type { Mongo } from "@vidimus/kit/mongo";
import { type MoveDeps, moveDocuments } from "./domain/publication/move-documents.ts";
import type { PageDeps } from "./domain/publication/published-page.ts";
import type { SnapshotKey } from "./domain/publication/snapshot-feed.ts";
import { createTransitionQueue, type MoveDocument } from "./domain/publication/transition-queue.ts";
import { TransactionConflict } from "./domain/publication/transition-transaction.ts";
import { ClockStore } from "./store/clock-store.ts";
import { PublicationStore } from "./store/publication-store.ts";
import { SnapshotStore } from "./store/snapshot-store.ts";
import { TransitionStore } from "./store/transition-store.ts";

/** What publishing needs from the rest of the service. */
export interface PublicationOptions extends MoveDeps {
  readonly mongo: Pick<Mongo, "client" | "db">;
  /** Told of every snapshot once it is committed; must neither wait nor throw. */
  announce(snapshot: SnapshotKey): void;
}

/** The part of the service that moves documents and shows them to readers. */
export interface Publication {
  readonly move: MoveDocument;
  readonly pages: PageDeps;
  readonly snapshots: SnapshotStore;
}

/** Puts publishing together and makes its indexes. */
export async function openPublication({ mongo, announce, ...deps }: PublicationOptions): Promise<Publication> {
  const transitions = new TransitionStore(mongo.client, mongo.db);
  const publications = new PublicationStore(mongo.db);
  const snapshots = new SnapshotStore(mongo.db);
  const clocks = new ClockStore(mongo.db);
  for (const store of [transitions, publications, snapshots]) await store.ensureIndexes();
  const queue = createTransitionQueue({
    transact: async (tenantId, moves) => {
      try {
        return await transitions.transact(tenantId, (transaction) => moveDocuments(deps, transaction, tenantId, moves));
      } catch (error) {
        throw error instanceof TransactionConflict ? error : (asDomainError(error) ?? error);
      }
    },
  });
  const move: MoveDocument = async (tenantId, step, signal) => {
    const moved = await queue(tenantId, step, signal);
    if (moved.sequence > 0) announce({ tenantId, ...moved });
    return moved;
  };
  const pages: PageDeps = {
    stamp: (tenantId, type) => clocks.stamp(tenantId, type),
    list: (tenantId, query, bytesMax, signal) => publications.list(tenantId, query, bytesMax, signal),
  };
  return { move, pages, snapshots };
}
