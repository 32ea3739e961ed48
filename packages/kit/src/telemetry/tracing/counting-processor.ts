import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from "@opentelemetry/sdk-trace";
import { Counter, type Registry } from "prom-client";
import { withinDeadline } from "../../deadline.ts";
import type { Logger } from "../log.ts";
import { throttle } from "../throttle.ts";
import type { SpanQueueConfig } from "./tracing-config.ts";

interface CountingProcessorOptions {
  readonly exporter: Pick<SpanExporter, "export" | "shutdown">;
  readonly config: SpanQueueConfig;
  readonly log: Pick<Logger, "warn">;
  readonly registry: Registry;
}

const failureLogMs = 60_000;
/** Longest time that a stop waits for the collector. */
const flushMs = 2_000;

/**
 * Posts ended spans in batches through the SDK's processor, and counts what becomes of them. When
 * the collector is slow or away the queue fills, and spans beyond its bound are dropped; no request
 * waits for the collector. The SDK reports dropped spans only to OpenTelemetry's own metrics and
 * log, so this class enforces the bound itself.
 */
export class CountingProcessor implements SpanProcessor {
  readonly #processor: BatchSpanProcessor;
  readonly #exporter: CountingProcessorOptions["exporter"];
  readonly #spansMax: number;
  readonly #spans: Counter<"outcome">;
  readonly #report: (error: unknown) => void;
  /** Spans in the SDK's queue. */
  #waiting = 0;
  /** Spans that were posted and not answered yet. */
  #out = 0;
  #isClosed = false;

  constructor({ exporter, config, log, registry }: CountingProcessorOptions) {
    this.#exporter = exporter;
    this.#spansMax = config.spansMax;
    this.#processor = new BatchSpanProcessor({
      exporter: { export: (batch, done) => this.#post(batch, done), shutdown: () => exporter.shutdown() },
      maxQueueSize: config.spansMax,
      maxExportBatchSize: config.batchMax,
      scheduledDelayMillis: config.delayMs,
    });
    this.#spans = new Counter({
      name: "vidimus_trace_spans_total",
      help: "Spans that ended, by what became of them: exported, failed, or dropped from a full queue.",
      labelNames: ["outcome"],
      registers: [registry],
    });
    for (const outcome of ["exported", "failed", "dropped"]) this.#spans.inc({ outcome }, 0);
    this.#report = throttle<unknown>(failureLogMs, (err, suppressed) => {
      log.warn({ err, suppressed }, "spans were not taken by the collector");
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#isClosed || this.#waiting >= this.#spansMax) {
      this.#spans.inc({ outcome: "dropped" });
      return;
    }
    this.#waiting += 1;
    this.#processor.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#processor.forceFlush();
  }

  /** Posts the waiting spans, for at most two seconds. Unanswered ones then count as dropped. */
  async shutdown(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A refused post was already counted and reported by `#settle`.
    const flushed = this.#processor.shutdown().catch(() => {});
    await withinDeadline(flushed, flushMs);
    this.#spans.inc({ outcome: "dropped" }, this.#waiting + this.#out);
    [this.#waiting, this.#out] = [0, 0];
  }

  #post(batch: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#waiting -= batch.length;
    this.#out += batch.length;
    this.#exporter.export(batch, (result) => {
      this.#settle(batch.length, result);
      done(result);
    });
  }

  #settle(count: number, { code, error }: ExportResult): void {
    // After the deadline of a stop these spans were already counted as dropped.
    if (this.#out === 0) return;
    this.#out -= count;
    const isTaken = code === ExportResultCode.SUCCESS;
    this.#spans.inc({ outcome: isTaken ? "exported" : "failed" }, count);
    if (!isTaken) this.#report(error);
  }
}
