/** The position of a snapshot among those of its document. */
export interface DocumentSequence {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: number;
}

/**
 * - `newer`: no snapshot of the document with this sequence or a higher one was handled
 * - `same`: this one was handled: a repeated delivery
 * - `older`: a newer one was handled; this one must not replace it
 */
export type SequenceOutcome = "newer" | "same" | "older";

/**
 * Stores the highest handled sequence of each document. A `Map` works but forgets all when the
 * process ends; store the numbers with the documents instead.
 */
export interface SequenceStore {
  get(document: string): Promise<number | undefined> | number | undefined;
  set(document: string, sequence: number): unknown;
}

/**
 * Tells newer snapshots from repeated and older ones: a snapshot may be delivered more than once,
 * and operators may send old ones again.
 *
 * The returned function calls `handle` only for a newer snapshot, and waits for its promise. It
 * stores the sequence after `handle` has succeeded, so a snapshot whose handling failed is newer
 * again when it is repeated. One guard handles snapshots of one document one after the other;
 * several guards or processes need a condition on the sequence in the database as well.
 *
 * @throws errors of `handle` and of the store
 */
export function sequenceGuard(
  store: SequenceStore,
): (snapshot: DocumentSequence, handle: () => unknown) => Promise<SequenceOutcome> {
  const turns = new Map<string, Promise<unknown>>();
  return (snapshot, handle) => {
    const document = `${snapshot.tenantId}/${snapshot.documentId}`;
    const before = turns.get(document) ?? Promise.resolve();
    const outcome = before.then(() => handleIfNewer(store, document, snapshot.sequence, handle));
    const turn = outcome.catch(() => undefined).finally(() => turns.get(document) === turn && turns.delete(document));
    turns.set(document, turn);
    return outcome;
  };
}

async function handleIfNewer(
  store: SequenceStore,
  document: string,
  sequence: number,
  handle: () => unknown,
): Promise<SequenceOutcome> {
  const handled = (await store.get(document)) ?? 0;
  if (sequence < handled) return "older";
  if (sequence === handled) return "same";
  await handle();
  await store.set(document, sequence);
  return "newer";
}
