import { Holdings } from "@vidimus/kit/fair/holdings";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import { type Reference, snapshotKey } from "../domain/payload.ts";
import { IngestSpan } from "./ingest-span.ts";

/** Called at the end of a handling, with the error that `Handling.end` was given, if any. */
type EndListener = (error: unknown) => void;

/** The ingest of one snapshot, from its start until the snapshot is settled or a step fails. */
export class Handling {
  readonly reference: Reference;
  /** `snapshotKey` of the reference. */
  readonly key: string;
  readonly #span: IngestSpan | undefined;
  readonly #listeners: EndListener[] = [];
  /** Promise of `stored`, made on demand: few of the thousands of handlings of a burst need it. */
  #stored: PromiseWithResolvers<void> | undefined;
  #isStored = false;
  #end: { readonly error: unknown } | undefined;

  /** @param onEnd called at the end, before all other listeners */
  constructor(reference: Reference, tracing: Tracing | undefined, onEnd: (handling: Handling) => void) {
    this.reference = reference;
    this.key = snapshotKey(reference);
    this.#span = tracing && new IngestSpan(tracing, reference);
    this.#listeners.push(() => onEnd(this));
  }

  get isStored(): boolean {
    return this.#isStored;
  }

  /** Resolves when the snapshot's deliveries are stored or none are needed; otherwise rejects. */
  get stored(): Promise<void> {
    if (this.#isStored) return Promise.resolve();
    if (!this.#stored) {
      this.#stored = Promise.withResolvers<void>();
      untilEnded([this]).then(this.#stored.resolve, this.#stored.reject);
    }
    return this.#stored.promise;
  }

  /** W3C Trace Context of the ingest; undefined unless it is recorded. */
  get traceparent(): string | undefined {
    return this.#span?.traceparent;
  }

  /** Starts the ingest's span, unless the reference named the trace and so started the span. */
  trace(traceparent: string | undefined): void {
    this.#span?.start(traceparent);
  }

  onEnd(listener: EndListener): void {
    if (this.#end) listener(this.#end.error);
    else this.#listeners.push(listener);
  }

  noteStored(): void {
    this.#isStored = true;
    this.#stored?.resolve();
  }

  /** @param error absent when the snapshot is settled, or documents does not have it */
  end(error?: unknown): void {
    // A second end would have `InHand` forget the handling that the snapshot may have got since.
    if (this.#end) return;
    this.#end = { error };
    this.#span?.end(error);
    if (error === undefined) this.noteStored();
    for (const listener of this.#listeners) listener(error);
  }
}

/** Resolves when all have ended without an error; otherwise rejects once all have ended. */
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

/** The snapshots in ingest at this process, so that each has one ingest at a time. */
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

  countOf(tenantId: string): number {
    return this.#byTenant.of(tenantId);
  }

  /** Starts the handling of a snapshot that has none. */
  take(reference: Reference): Handling {
    const handling = new Handling(reference, this.#tracing, this.#forget);
    this.#handled.set(handling.key, handling);
    this.#byTenant.add(reference.tenantId, 1);
    return handling;
  }
}
