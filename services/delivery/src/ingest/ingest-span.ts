import { continueTrace, type Span, type Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { Reference } from "../domain/payload.ts";

/**
 * The span of one snapshot's ingest, from its start in this process until the snapshot is settled
 * or a step fails. A message of the broker names the trace. For other snapshots the trace is known
 * only once the snapshot is read; the span is then made late, with the time at which the ingest
 * began.
 */
export class IngestSpan {
  readonly #tracing: Tracing;
  readonly #reference: Reference;
  readonly #startedAt = Date.now();
  #span: Span | undefined;

  constructor(tracing: Tracing, reference: Reference) {
    this.#tracing = tracing;
    this.#reference = reference;
    this.start(reference.traceparent);
  }

  get traceparent(): string | undefined {
    return this.#span?.traceparent;
  }

  /** Has no effect when the span has started, or when the trace is not recorded. */
  start(parent: string | undefined): void {
    const { tenantId, documentId, sequence } = this.#reference;
    this.#span ??= continueTrace(this.#tracing, {
      name: "ingest snapshot",
      kind: "consumer",
      parent,
      startedAt: this.#startedAt,
      attributes: {
        "messaging.system": "nats",
        "messaging.operation.type": "process",
        "vidimus.tenant.id": tenantId,
        "vidimus.document.id": documentId,
        "vidimus.snapshot.sequence": sequence,
      },
    });
  }

  end(error: unknown): void {
    if (error === undefined) this.#span?.end();
    else this.#span?.end({}, error instanceof Error ? error.constructor.name : typeof error);
  }
}
