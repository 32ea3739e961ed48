import { Holdings } from "@vidimus/kit/queues/holdings";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import { type Reference, snapshotKey } from "../domain/payload.ts";
import { IngestSpan } from "./ingest-span.ts";

/** The taking in of one snapshot. */
export class Handling {
  readonly reference: Reference;
  /** `snapshotKey` of the reference. */
  readonly key: string;
  readonly #span: IngestSpan | undefined;
  readonly #onEnd: (handling: Handling) => void;
  readonly #settled = Promise.withResolvers<void>();
  /** Made when the first one waits for it: a newer snapshot of the same document. */
  #stored: PromiseWithResolvers<void> | undefined;
  #isStored = false;
  #isOver = false;

  constructor(reference: Reference, tracing: Tracing | undefined, onEnd: (handling: Handling) => void) {
    this.reference = reference;
    this.key = snapshotKey(reference);
    this.#span = tracing && new IngestSpan(tracing, reference);
    this.#onEnd = onEnd;
    // Whoever waits handles the rejection; nobody may wait.
    this.#settled.promise.catch(() => {});
  }

  get isStored(): boolean {
    return this.#isStored;
  }

  /** Resolves when its deliveries are stored, or when it turned out to need none; or rejects. */
  get stored(): Promise<void> {
    if (this.#isStored) return Promise.resolve();
    if (!this.#stored) {
      this.#stored = Promise.withResolvers<void>();
      this.settled.then(this.#stored.resolve, this.#stored.reject);
    }
    return this.#stored.promise;
  }

  /** Resolves when it is settled; or rejects. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** W3C Trace Context of its ingest, if that is recorded. */
  get traceparent(): string | undefined {
    return this.#span?.traceparent;
  }

  /** Records its ingest, unless its reference has named the trace already. */
  trace(traceparent: string | undefined): void {
    this.#span?.start(traceparent);
  }

  noteStored(): void {
    this.#isStored = true;
    this.#stored?.resolve();
  }

  /** Ends it; without an error it is settled. Has no effect when it has ended. */
  end(error?: unknown): void {
    // By now the snapshot may have another handling.
    if (this.#isOver) return;
    this.#isOver = true;
    this.#span?.end(error);
    this.#onEnd(this);
    if (error === undefined) {
      this.noteStored();
      this.#settled.resolve();
    } else {
      this.#settled.reject(error);
    }
  }
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
