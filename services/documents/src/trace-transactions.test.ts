import { EnvReader } from "@vidimus/kit/env";
import { OtlpTracing } from "@vidimus/kit/telemetry/tracing/otlp-tracing";
import { readTracingConfig } from "@vidimus/kit/telemetry/tracing/tracing-config";
import { attributesOf, openOtlpReceiver, type ReceivedSpan } from "@vidimus/kit/testing/otlp-receiver";
import pino from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import type { TransitionQueueOptions } from "./domain/transitions/transition-queue.ts";
import { TransactionConflict } from "./domain/transitions/transition-transaction.ts";
import { traceTransactions } from "./trace-transactions.ts";

const first = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const second = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const unrecorded = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-00";

function request(traceparent?: string) {
  const by = { actor: "kari", role: "editor" };
  return { documentId: "d", name: "publish", expectedVersion: 1, by, ...(traceparent && { traceparent }) };
}

/**
 * Runs `work` with traced transactions, which fail with `failure` when there is one. Returns their
 * spans.
 */
async function spansOf(
  work: (run: TransitionQueueOptions["runBatch"]) => Promise<unknown>,
  failure?: Error,
): Promise<readonly ReceivedSpan[]> {
  await using collector = await openOtlpReceiver();
  const config = readTracingConfig(new EnvReader({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }))!;
  const log = pino({ level: "silent" });
  const tracing = new OtlpTracing({ service: "documents", config, log, registry: new Registry() });
  const run = traceTransactions(tracing, async (_, requests) => {
    if (failure) throw failure;
    return requests.map(() => undefined);
  });
  await work(run);
  await tracing[Symbol.asyncDispose]();
  return collector.spans;
}

const requests = [request(unrecorded), request(first), request(second), request(first)];
const link = { traceId: second.slice(3, 35), spanId: second.slice(36, 52) };
const ofFirst = { traceId: first.slice(3, 35), parentSpanId: first.slice(36, 52), links: [link] };
const attributes = { "vidimus.tenant.id": "demo", "vidimus.transition.count": 4 };

test("a transaction has one span, in its first recorded trace, with a link to the other recorded trace", async () => {
  const spans = await spansOf((run) => run("demo", requests));
  expect(spans).toMatchObject([ofFirst]);
  expect(attributesOf(spans[0]!)).toMatchObject(attributes);
  expect(attributesOf(spans[0]!)["error.type"]).toBeUndefined();
});

test("a transaction that ends in a conflict has a span with the error type conflict", async () => {
  const conflict = new TransactionConflict(undefined, true);
  const spans = await spansOf(
    (run) => expect(run("demo", requests)).rejects.toThrow("met another transaction"),
    conflict,
  );
  expect(spans).toMatchObject([ofFirst]);
  expect(attributesOf(spans[0]!)).toMatchObject({ ...attributes, "error.type": "conflict" });
});

test("a transaction without a recorded trace has no span", async () => {
  expect(await spansOf((run) => run("demo", [request(), request(unrecorded)]))).toEqual([]);
});
