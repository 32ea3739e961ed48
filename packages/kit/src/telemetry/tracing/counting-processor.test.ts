import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CountingProcessor } from "./counting-processor.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("spans that end during a post or after it are posted, too", async () => {
  const posts: number[] = [];
  let finish: (result: ExportResult) => void = () => {};
  const exporter = {
    export: (batch: ReadableSpan[], done: typeof finish) => {
      posts.push(batch.length);
      finish = done;
    },
    shutdown: async () => {},
  };
  const config = { spansMax: 10, batchMax: 5, delayMs: 100 };
  const queue = new CountingProcessor({ exporter, config, log: pino({ level: "silent" }), registry: new Registry() });
  // The parts of a span that the SDK's queue reads.
  const span = { spanContext: () => ({ traceFlags: 1 }), resource: {} } as ReadableSpan;
  const taken = async () => {
    finish({ code: ExportResultCode.SUCCESS });
    await vi.advanceTimersByTimeAsync(0);
  };

  queue.onEnd(span);
  await vi.advanceTimersByTimeAsync(100);
  expect(posts).toEqual([1]);
  queue.onEnd(span);
  queue.onEnd(span);
  // The delay of these spans ends while the first post is still unanswered.
  await vi.advanceTimersByTimeAsync(200);
  expect(posts).toEqual([1]);
  await taken();
  await vi.advanceTimersByTimeAsync(100);
  expect(posts).toEqual([1, 2]);
  await taken();
  queue.onEnd(span);
  await vi.advanceTimersByTimeAsync(100);
  expect(posts).toEqual([1, 2, 1]);
});
