import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SpanQueue } from "./span-queue.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("posts spans that end while a post is out, and those that end after it", async () => {
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
  const queue = new SpanQueue({ exporter, config, log: pino({ level: "silent" }), registry: new Registry() });
  // The queue does not look into spans.
  const span = {} as ReadableSpan;
  const taken = async () => {
    finish({ code: ExportResultCode.SUCCESS });
    await vi.advanceTimersByTimeAsync(0);
  };

  queue.onEnd(span);
  await vi.advanceTimersByTimeAsync(100);
  expect(posts).toEqual([1]);
  queue.onEnd(span);
  queue.onEnd(span);
  // Their time is over while the first post is still out.
  await vi.advanceTimersByTimeAsync(200);
  expect(posts).toEqual([1]);
  await taken();
  expect(posts).toEqual([1, 2]);
  await taken();
  queue.onEnd(span);
  await vi.advanceTimersByTimeAsync(100);
  expect(posts).toEqual([1, 2, 1]);
});
