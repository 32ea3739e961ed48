import { Holdings } from "@vidimus/kit/queues/holdings";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import { type Reference, snapshotKey } from "../domain/payload.ts";
import { IngestSpan } from "./ingest-span.ts";

/** Learns how a handling ended: `undefined` means that the snapshot is settled. */
type EndListener = (error: unknown) => void;

/**
 * The taking in of one snapshot. Ten thousand may wait at the start of a burst, so it has no promise
 * before someone waits for this one snapshot.
 */
export class Handling {
  readonly reference: Reference;
  /** `snapshotKey` of the reference. */
  readonly key: string;
  readonly #span: IngestSpan | undefined;
  readonly #listeners: EndListener[] = [];
  /** Made when the first one waits for it: a newer snapshot of the same document. */
  #stored: PromiseWithResolvers<void> | undefined;
  #isStored = false;
  #end: { readonly error: unknown } | undefined;

  /** @param onEnd called first at its end */
  constructor(reference: Reference, tracing: Tracing | undefined, onEnd: (handling: Handling) => void) {
    this.reference = reference;
    this.key = snapshotKey(reference);
    this.#span = tracing && new IngestSpan(tracing, reference);
    this.#listeners.push(() => onEnd(this));
  }

  get isStored(): boolean {
    return this.#isStored;
  }

  /** Resolves when its deliveries are stored, or when it turned out to need none; or rejects. */
  get stored(): Promise<void> {
    if (this.#isStored) return Promise.resolve();
    if (!this.#stored) {
      this.#stored = Promise.withResolvers<void>();
      untilEnded([this]).then(this.#stored.resolve, this.#stored.reject);
    }
    return this.#stored.promise;
  }

  /** W3C Trace Context of its ingest, if that is recorded. */
  get traceparent(): string | undefined {
    return this.#span?.traceparent;
  }

  /** Records its ingest, unless its reference has named the trace already. */
  trace(traceparent: string | undefined): void {
    this.#span?.start(traceparent);
  }

  /** Calls back at its end, or at once when it has ended. */
  onEnd(listener: EndListener): void {
    if (this.#end) listener(this.#end.error);
    else this.#listeners.push(listener);
  }

  noteStored(): void {
    this.#isStored = true;
    this.#stored?.resolve();
  }

  /** Ends it; without an error it is settled. Has no effect when it has ended. */
  end(error?: unknown): void {
    // By now the snapshot may have another handling.
    if (this.#end) return;
    this.#end = { error };
    this.#span?.end(error);
    if (error === undefined) this.noteStored();
    for (const listener of this.#listeners) listener(error);
  }
}

/** Resolves when all snapshots are settled; rejects when all have ended, and one was not. */
export function untilEnded(handlings: readonly Handling[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let left = handlings.length;
  let failure: unknown;
  const note = (error: unknown) => {
    failure ??= error;
    left -= 1;
    if (left > 0) return;
    if (failure === undefined) resolve();
    else reject(failure);
  };
  for (const handling of handlings) handling.onEnd(note);
  if (handlings.length === 0) resolve();
  return promise;
}

/** The snapshots that this process is taking in, so that each is taken in once at a time. */
export class InHand {
  readonly #handled = new Map<string, Handling>();
  readonly #byTenant = new Holdings();
  readonly #tracing: Tracing | undefined;
  readonly #forget = ({ key, reference }: Handling) => {
    this.#handled.delete(key);
    this.#byTenant.add(reference.tenantId, -1);
  };

  /** @param tracing undefined while tracing is off */
  constructor(tracing: Tracing | undefined) {
    this.#tracing = tracing;
  }

  get(reference: Reference): Handling | undefined {
    return this.#handled.get(snapshotKey(reference));
  }

  has(reference: Reference): boolean {
    return this.#handled.has(snapshotKey(reference));
  }

  /** How many snapshots of a tenant are in hand. */
  countOf(tenantId: string): number {
    return this.#byTenant.of(tenantId);
  }

  /** Takes a snapshot that is not in hand. */
  take(reference: Reference): Handling {
    const handling = new Handling(reference, this.#tracing, this.#forget);
    this.#handled.set(handling.key, handling);
    this.#byTenant.add(reference.tenantId, 1);
    return handling;
  }
}
