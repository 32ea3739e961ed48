import { asDomainError } from "@vidimus/kit/rpc/error-table";
import type { Mongo } from "@vidimus/kit/mongo/mongo";
import type { TypeRegistry } from "./domain/types/document-type.ts";
import { checkedFirst, PublicationChecks } from "./domain/transitions/publication-checks.ts";
import { type TransitionDocumentsDeps, transitionDocuments } from "./domain/transitions/transition-documents.ts";
import { ChangeSignal } from "./domain/published-reads/change-signal.ts";
import type { AnnouncedSnapshot } from "./domain/snapshots/snapshot-feed.ts";
import {
  createTransitionQueue,
  type TransitionDocument,
  type TransitionQueueOptions,
} from "./domain/transitions/transition-queue.ts";
import { TransactionConflict } from "./domain/transitions/transition-transaction.ts";
import { ClockStore } from "./store/clock-store.ts";
import { PublicationStore } from "./store/publication-store.ts";
import type { Rollout } from "./store/rollout.ts";
import { SlugStore } from "./store/slug-store.ts";
import { SnapshotStore } from "./store/snapshot-store.ts";
import { TransitionStore } from "./store/transition-store.ts";

/** The rest of the service, as transitions use it. */
interface PublicationOptions extends Omit<TransitionDocumentsDeps, "checks"> {
  readonly types: Pick<TypeRegistry, "at">;
  readonly mongo: Pick<Mongo, "client" | "db">;
  readonly rollout: Pick<Rollout, "hasVersion2">;
  /**
   * Called with every snapshot after its commit; must neither wait nor throw: `announceSnapshots`.
   */
  announce(snapshot: AnnouncedSnapshot): void;
}

/** The part of the service that takes documents through transitions and shows them to readers. */
export interface Publication {
  readonly transition: TransitionDocument;
  readonly publications: PublicationStore;
  readonly slugs: SlugStore;
  readonly clocks: ClockStore;
  readonly snapshots: SnapshotStore;
  /** To be notified of snapshots that other processes announce. */
  readonly changeSignal: ChangeSignal;
}

/** Composes the stores and the queue. The indexes are made by `migrate`. */
export function openPublication(options: PublicationOptions): Publication {
  const { mongo, rollout, announce, types, ...deps } = options;
  const { client, db } = mongo;
  const clocks = new ClockStore(client, db);
  const transitions = new TransitionStore(client, db, rollout, (tenantId, reading) => {
    clocks.remember(tenantId, reading);
  });
  const changeSignal = new ChangeSignal();
  const checks = new PublicationChecks(types);
  const queue = createTransitionQueue({ runBatch: batchRunner(transitions, { checks, ...deps }) });
  return {
    transition: async (tenantId, request, signal) => {
      const transitioned = await checkedFirst(() => queue(tenantId, request, signal), signal);
      if (transitioned.sequence > 0) {
        changeSignal.notify(tenantId, transitioned.type);
        announce({ tenantId, ...transitioned });
      }
      return transitioned;
    },
    publications: new PublicationStore(client, db),
    slugs: new SlugStore(client, db),
    clocks,
    snapshots: new SnapshotStore(db),
    changeSignal,
  };
}

function batchRunner(transitions: TransitionStore, deps: TransitionDocumentsDeps): TransitionQueueOptions["runBatch"] {
  return async (tenantId, requests) => {
    try {
      return await transitions.runTransition(tenantId, (transaction) =>
        transitionDocuments(deps, transaction, tenantId, requests),
      );
    } catch (error) {
      throw error instanceof TransactionConflict ? error : (asDomainError(error) ?? error);
    }
  };
}
