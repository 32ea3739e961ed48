import { DomainError } from "@vidimus/kit/errors";
import { asDomainError } from "@vidimus/kit/rpc/error-table";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { Mongo } from "@vidimus/kit/mongo/mongo";
import type { TypeRegistry } from "./domain/types/document-type.ts";
import { checkedFirst, PublicationChecks } from "./domain/transitions/publication-checks.ts";
import type { Transitioned } from "./domain/transitions/attempt.ts";
import {
  type TransitionDocumentsDeps,
  transitionDocuments,
  type TransitionOutcome,
} from "./domain/transitions/transition-documents.ts";
import { ChangeSignal } from "./domain/published-reads/change-signal.ts";
import type { AnnouncedSnapshot } from "./domain/snapshots/snapshot-feed.ts";
import {
  createTransitionQueue,
  type TransitionDocument,
  type TransitionQueueOptions,
} from "./domain/transitions/transition-queue.ts";
import { traceTransactions } from "./trace-transactions.ts";
import { TransactionConflict } from "./domain/transitions/transition-transaction.ts";
import { ClockStore } from "./store/clock-store.ts";
import { PublicationStore } from "./store/publication-store.ts";
import { SlugStore } from "./store/slug-store.ts";
import { SnapshotStore } from "./store/snapshot-store.ts";
import { TransitionStore } from "./store/transition-store.ts";

/** The rest of the service, as transitions use it. */
interface PublicationOptions extends Omit<TransitionDocumentsDeps, "checks"> {
  readonly types: Pick<TypeRegistry, "at">;
  readonly mongo: Pick<Mongo, "client" | "db">;
  /** Undefined while tracing is off. */
  readonly tracing: Tracing | undefined;
  /**
   * Called with the snapshots of a transaction after its commit, one at least; must neither wait nor
   * throw: `announceSnapshots`.
   */
  announce(tenantId: string, snapshots: readonly AnnouncedSnapshot[]): void;
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

/** Composes the stores and the queue. */
export function openPublication(options: PublicationOptions): Publication {
  const { mongo, tracing, announce, types, ...deps } = options;
  const { client, db } = mongo;
  const clocks = new ClockStore(client, db);
  const transitions = new TransitionStore(client, db, (tenantId, reading) => clocks.remember(tenantId, reading));
  const changeSignal = new ChangeSignal();
  const checks = new PublicationChecks(types);
  const onCommit = (tenantId: string, outcomes: readonly TransitionOutcome[]) => {
    const snapshots = outcomes.filter(hasSnapshot);
    for (const { type } of snapshots) changeSignal.notify(tenantId, type);
    if (snapshots.length > 0) announce(tenantId, snapshots);
  };
  const runBatch = batchRunner(transitions, { checks, ...deps }, onCommit);
  const queue = createTransitionQueue({ runBatch: tracing ? traceTransactions(tracing, runBatch) : runBatch });
  return {
    transition: (tenantId, request, signal) => checkedFirst(() => queue(tenantId, request, signal), signal),
    publications: new PublicationStore(client, db),
    slugs: new SlugStore(client, db),
    clocks,
    snapshots: new SnapshotStore(db),
    changeSignal,
  };
}

function hasSnapshot(outcome: TransitionOutcome): outcome is Transitioned {
  return outcome !== undefined && !(outcome instanceof DomainError) && outcome.sequence > 0;
}

function batchRunner(
  transitions: TransitionStore,
  deps: TransitionDocumentsDeps,
  onCommit: (tenantId: string, outcomes: readonly TransitionOutcome[]) => void,
): TransitionQueueOptions["runBatch"] {
  return async (tenantId, requests) => {
    try {
      const outcomes = await transitions.runTransition(tenantId, (transaction) =>
        transitionDocuments(deps, transaction, tenantId, requests),
      );
      onCommit(tenantId, outcomes);
      return outcomes;
    } catch (error) {
      throw error instanceof TransactionConflict ? error : (asDomainError(error) ?? error);
    }
  };
}
