import { DomainError } from "@vidimus/kit/errors";
import { asDomainError } from "@vidimus/kit/rpc/errors/error-table";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { Mongo } from "@vidimus/kit/mongo/mongo";
import type { TypeRegistry } from "./domain/types/document-type.ts";
import { checkedFirst, PublicationChecks } from "./domain/transitions/publication-checks.ts";
import type { TransitionResult } from "./domain/transitions/attempt.ts";
import { type TransitionBatchDeps, transitionBatch } from "./domain/transitions/transition-batch.ts";
import type { TransitionOutcome } from "./domain/transitions/attempt.ts";
import { ChangeSignal } from "./domain/published-reads/change-signal.ts";
import type { AnnouncedSnapshot } from "./domain/snapshots/snapshot-feed.ts";
import {
  createTransitionQueue,
  type RunTransition,
  type TransitionQueueOptions,
} from "./domain/transitions/transition-queue.ts";
import { traceTransactions } from "./trace-transactions.ts";
import { TransactionConflict } from "./domain/transitions/transition-transaction.ts";
import { ClockStore } from "./store/clock-store.ts";
import { PublicationStore } from "./store/publication-store.ts";
import { SlugStore } from "./store/slug-store.ts";
import { SnapshotStore } from "./store/snapshot-store.ts";
import { TransitionStore } from "./store/transition-store.ts";

interface PublishingOptions extends Omit<TransitionBatchDeps, "checks"> {
  readonly types: Pick<TypeRegistry, "at">;
  readonly mongo: Pick<Mongo, "client" | "db">;
  /** Undefined while tracing is off. */
  readonly tracing: Tracing | undefined;
  /**
   * Called after a batch of transitions with the snapshots that it made and those that its repeated
   * requests made earlier, unless there are none. Must neither wait nor throw. The service passes
   * `announceSnapshots`.
   */
  announce(tenantId: string, snapshots: readonly AnnouncedSnapshot[]): void;
}

export interface PublishingParts {
  readonly transition: RunTransition;
  readonly publications: PublicationStore;
  readonly slugs: SlugStore;
  readonly clocks: ClockStore;
  readonly snapshots: SnapshotStore;
  /** The caller must notify it of snapshots that other processes announce. */
  readonly changeSignal: ChangeSignal;
}

export function openPublishing(options: PublishingOptions): PublishingParts {
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

function hasSnapshot(outcome: TransitionOutcome): outcome is TransitionResult {
  return outcome !== undefined && !(outcome instanceof DomainError) && outcome.sequence > 0;
}

function batchRunner(
  transitions: TransitionStore,
  deps: TransitionBatchDeps,
  onCommit: (tenantId: string, outcomes: readonly TransitionOutcome[]) => void,
): TransitionQueueOptions["runBatch"] {
  return async (tenantId, requests) => {
    try {
      const outcomes = await transitions.runTransition(tenantId, (transaction) =>
        transitionBatch(deps, transaction, tenantId, requests),
      );
      onCommit(tenantId, outcomes);
      return outcomes;
    } catch (error) {
      throw error instanceof TransactionConflict ? error : (asDomainError(error) ?? error);
    }
  };
}
