import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";
import { Counter, type Registry } from "prom-client";
import { withinDeadline } from "../../deadline.ts";
import type { Logger } from "../log.ts";
import { throttle } from "../throttle.ts";
import type { SpanQueueConfig } from "./tracing-config.ts";

interface SpanQueueOptions {
  readonly exporter: Pick<SpanExporter, "export" | "shutdown">;
  readonly config: SpanQueueConfig;
  readonly log: Pick<Logger, "warn">;
  readonly registry: Registry;
}

const failureLogMs = 60_000;
/** Longest that a stop waits for the collector. */
const flushMs = 2_000;

/**
 * Posts ended spans in batches, one batch at a time. A collector that is slow or away fills the
 * queue, and spans beyond its bound are dropped and counted; nothing waits for it. The SDK's own
 * processor counts what it drops in no metric.
 */
export class SpanQueue implements SpanProcessor {
  readonly #exporter: SpanQueueOptions["exporter"];
  readonly #config: SpanQueueConfig;
  readonly #spans: Counter<"outcome">;
  readonly #report: (error: unknown) => void;
  #waiting: ReadableSpan[] = [];
  #posting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ exporter, config, log, registry }: SpanQueueOptions) {
    this.#exporter = exporter;
    this.#config = config;
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
    if (this.#isClosed || this.#waiting.length >= this.#config.spansMax) {
      this.#spans.inc({ outcome: "dropped" });
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= this.#config.batchMax) void this.forceFlush();
    else this.#timer ??= setTimeout(() => this.#onTimer(), this.#config.delayMs).unref();
  }

  /** Forgets the timer also when a post is out, which takes these spans along: the next one needs it. */
  #onTimer(): void {
    this.#timer = undefined;
    void this.forceFlush();
  }

  /** Resolves when what waits now was posted, or could not be. */
  forceFlush(): Promise<void> {
    this.#posting ??= this.#postAll().finally(() => (this.#posting = undefined));
    return this.#posting;
  }

  /** Posts what waits, for two seconds at most. */
  async shutdown(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await withinDeadline(this.forceFlush(), flushMs);
    this.#spans.inc({ outcome: "dropped" }, this.#waiting.length);
    this.#waiting = [];
    // It would wait for the post that is out.
    this.#exporter.shutdown().catch(() => {});
  }

  async #postAll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0) await this.#post(this.#waiting.splice(0, this.#config.batchMax));
  }

  async #post(batch: ReadableSpan[]): Promise<void> {
    const { code, error } = await new Promise<ExportResult>((resolve) => this.#exporter.export(batch, resolve));
    const isTaken = code === ExportResultCode.SUCCESS;
    this.#spans.inc({ outcome: isTaken ? "exported" : "failed" }, batch.length);
    if (!isTaken) this.#report(error);
  }
}
