import { Holdings } from "@vidimus/kit/queues/holdings";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import { type Reference, snapshotKey } from "../domain/payload.ts";
import { IngestSpan } from "./ingest-span.ts";

/** A snapshot that this process is taking in. */
export interface HandledSnapshot {
  readonly reference: Reference;
  /** Resolves when its deliveries are stored, or when it turned out to need none; or rejects. */
  readonly stored: Promise<void>;
  readonly isStored: boolean;
  /** Resolves when it is settled. */
  readonly settled: Promise<void>;
}

/** Ends or fails the handling of a snapshot. */
export interface Handling extends HandledSnapshot {
  /** W3C Trace Context of its ingest, if that is recorded. */
  readonly traceparent: string | undefined;
  /** Records its ingest, unless its reference has named the trace already. */
  trace(traceparent: string | undefined): void;
  noteStored(): void;
  /** Ends it; without an error it is settled. */
  end(error?: unknown): void;
}

/** The snapshots that this process is taking in, so that each is taken in once at a time. */
export class InHand {
  readonly #handled = new Map<string, Handling>();
  readonly #byTenant = new Holdings();
  readonly #tracing: Tracing | undefined;

  /** @param tracing undefined while tracing is off */
  constructor(tracing: Tracing | undefined) {
    this.#tracing = tracing;
  }

  get(reference: Reference): HandledSnapshot | undefined {
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
    const key = snapshotKey(reference);
    const stored = Promise.withResolvers<void>();
    const settled = Promise.withResolvers<void>();
    // Whoever waits handles the rejection; nobody may wait.
    stored.promise.catch(() => {});
    settled.promise.catch(() => {});
    let isStored = false;
    const noteStored = () => {
      isStored = true;
      stored.resolve();
    };
    const span = this.#tracing && new IngestSpan(this.#tracing, reference);
    const handling: Handling = {
      reference,
      stored: stored.promise,
      settled: settled.promise,
      get isStored() {
        return isStored;
      },
      get traceparent() {
        return span?.traceparent;
      },
      trace: (traceparent) => span?.start(traceparent),
      noteStored,
      end: (error) => {
        // Whoever takes it in again has a handling of its own.
        if (this.#handled.get(key) !== handling) return;
        span?.end(error);
        this.#handled.delete(key);
        this.#byTenant.add(reference.tenantId, -1);
        if (error === undefined) {
          noteStored();
          settled.resolve();
        } else {
          stored.reject(error);
          settled.reject(error);
        }
      },
    };
    this.#handled.set(key, handling);
    this.#byTenant.add(reference.tenantId, 1);
    return handling;
  }
}
