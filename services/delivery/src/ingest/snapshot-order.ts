import { type FeedSnapshot, olderPendingMax, type Reference, snapshotKey } from "../domain/payload.ts";

type Pending<H> = readonly [snapshot: FeedSnapshot, handling: H];

interface OrderedSnapshots<H> {
  /** Snapshots whose older pending snapshots are each stored or among the ready ones. */
  readonly ready: ReadonlyMap<FeedSnapshot, H>;
  /**
   * The other snapshots, as lists of consecutive ones of one document. A list waits until the older
   * pending snapshots of its first one are stored.
   */
  readonly early: readonly (readonly Pending<H>[])[];
}

/**
 * Splits pending snapshots into those that may be stored and those that must wait for older ones.
 *
 * @param pending older before newer, each with its ingest (`Handling`), whose key is the
 * `snapshotKey`
 * @param isStored whether this process has stored the deliveries of a snapshot, which it does only
 * after those of all older pending ones of its document
 */
export function splitByOrder<H extends { readonly key: string }>(
  pending: readonly Pending<H>[],
  isStored: (reference: Reference) => boolean,
): OrderedSnapshots<H> {
  const ready = new Map<FeedSnapshot, H>();
  const readyKeys = new Set<string>();
  const runs = new Map<string, Pending<H>[]>();
  const isDone = (reference: Reference) => readyKeys.has(snapshotKey(reference)) || isStored(reference);
  for (const each of pending) {
    const [snapshot, handling] = each;
    if (isNext(snapshot, isDone)) {
      ready.set(snapshot, handling);
      readyKeys.add(handling.key);
    } else {
      const run = runs.get(snapshotKey(priorOf(snapshot))) ?? [];
      run.push(each);
      runs.set(handling.key, run);
    }
  }
  return { ready, early: [...new Set(runs.values())] };
}

function isNext(snapshot: FeedSnapshot, isDone: (reference: Reference) => boolean): boolean {
  if (snapshot.olderPending.length === 0 || isDone(priorOf(snapshot))) return true;
  return !mayHaveMoreOlder(snapshot) && olderOf(snapshot).every(isDone);
}

/**
 * The reference with the sequence before the given one. No snapshot has it when the given one is
 * its document's first, or the first after a restore.
 */
export function priorOf({ tenantId, documentId, sequence }: Reference): Reference {
  return { tenantId, documentId, sequence: sequence - 1 };
}

export function olderOf({ tenantId, documentId, olderPending }: FeedSnapshot): Reference[] {
  return olderPending.map((sequence) => ({ tenantId, documentId, sequence }));
}

/** Whether documents may have cut `olderPending`; not if it ends with the prior sequence. */
export function mayHaveMoreOlder({ olderPending, sequence }: FeedSnapshot): boolean {
  return olderPending.length >= olderPendingMax && olderPending.at(-1) !== sequence - 1;
}
