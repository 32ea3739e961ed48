import { asDomainError } from "@vidimus/kit/rpc/error-table";
import type { Mongo } from "@vidimus/kit/mongo";
import { type MoveDeps, moveDocuments } from "./domain/publication/move-documents.ts";
import { ChangeSignal } from "./domain/publication/change-signal.ts";
import type { PageDeps } from "./domain/publication/published-page.ts";
import type { ChangeDeps } from "./domain/publication/read-changes.ts";
import type { DocumentDeps } from "./domain/publication/read-document.ts";
import type { SiteDeps } from "./domain/publication/read-site.ts";
import type { SnapshotKey } from "./domain/publication/snapshot-feed.ts";
import {
  createTransitionQueue,
  type MoveDocument,
  type TransitionQueueOptions,
} from "./domain/publication/transition-queue.ts";
import { TransactionConflict } from "./domain/publication/transition-transaction.ts";
import { ClockStore } from "./store/clock-store.ts";
import { PublicationStore } from "./store/publication-store.ts";
import { SlugStore } from "./store/slug-store.ts";
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
  /** What readers ask for. */
  readonly reads: PageDeps & DocumentDeps & SiteDeps & ChangeDeps;
  readonly snapshots: SnapshotStore;
  /** To be told of snapshots that other processes announce. */
  readonly changed: ChangeSignal;
}

/** Puts publishing together. Its indexes are made by `migrate`. */
export async function openPublication({ mongo, announce, ...deps }: PublicationOptions): Promise<Publication> {
  const transitions = new TransitionStore(mongo.client, mongo.db);
  const publications = new PublicationStore(mongo.db);
  const snapshots = new SnapshotStore(mongo.db);
  const changed = new ChangeSignal();
  const queue = createTransitionQueue({ transact: transactor(transitions, deps) });
  const move: MoveDocument = async (tenantId, step, signal) => {
    const moved = await queue(tenantId, step, signal);
    if (moved.sequence > 0) {
      changed.notify(tenantId);
      announce({ tenantId, ...moved });
    }
    return moved;
  };
  const slugs = new SlugStore(mongo.db);
  return { move, reads: readers(publications, slugs, new ClockStore(mongo.db), changed), snapshots, changed };
}

function transactor(transitions: TransitionStore, deps: MoveDeps): TransitionQueueOptions["transact"] {
  return async (tenantId, moves) => {
    try {
      return await transitions.transact(tenantId, (transaction) => moveDocuments(deps, transaction, tenantId, moves));
    } catch (error) {
      throw error instanceof TransactionConflict ? error : (asDomainError(error) ?? error);
    }
  };
}

function readers(
  publications: PublicationStore,
  slugs: SlugStore,
  clocks: ClockStore,
  signal: ChangeSignal,
): Publication["reads"] {
  return {
    stamp: clocks.stamp.bind(clocks),
    findSlug: slugs.findSlug.bind(slugs),
    slugOf: publications.slugOf.bind(publications),
    list: publications.list.bind(publications),
    find: publications.find.bind(publications),
    findAll: publications.findAll.bind(publications),
    findLive: publications.findLive.bind(publications),
    findSites: publications.findSites.bind(publications),
    listChanges: publications.listChanges.bind(publications),
    signal,
  };
}
