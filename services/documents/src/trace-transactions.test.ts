import { EnvReader } from "@vidimus/kit/env";
import { OtlpTracing } from "@vidimus/kit/telemetry/tracing/otlp-tracing";
import { readTracingConfig } from "@vidimus/kit/telemetry/tracing/tracing-config";
import { attributesOf, openOtlpReceiver } from "@vidimus/kit/testing/otlp-receiver";
import pino from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { TransactionConflict } from "./domain/transitions/transition-transaction.ts";
import { traceTransactions } from "./trace-transactions.ts";

const first = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const second = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const unrecorded = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-00";

function request(traceparent?: string) {
  const by = { actor: "kari", role: "editor" };
  return { documentId: "d", name: "publish", expectedVersion: 1, by, ...(traceparent && { traceparent }) };
}

test("the span of a transaction belongs to its first recorded trace, and links to the others", async () => {
  await using collector = await openOtlpReceiver();
  const config = readTracingConfig(new EnvReader({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }))!;
  const log = pino({ level: "silent" });
  const tracing = new OtlpTracing({ service: "documents", config, log, registry: new Registry() });
  const outcomes = [new TransactionConflict(undefined, true), undefined, undefined];
  const run = traceTransactions(tracing, async (_, requests) => {
    const failure = outcomes.shift();
    if (failure) throw failure;
    return requests.map(() => undefined);
  });
  const requests = [request(unrecorded), request(first), request(second), request(first)];
  await expect(run("demo", requests)).rejects.toThrow("met another transaction");
  await run("demo", requests);
  await run("demo", [request(), request(unrecorded)]);
  await tracing[Symbol.asyncDispose]();

  const [conflict, committed, ...more] = collector.spans;
  expect(more).toEqual([]);
  const link = { traceId: second.slice(3, 35), spanId: second.slice(36, 52) };
  for (const span of [conflict, committed]) {
    expect(span).toMatchObject({ traceId: first.slice(3, 35), parentSpanId: first.slice(36, 52), links: [link] });
    expect(attributesOf(span!)).toMatchObject({ "vidimus.tenant.id": "demo", "vidimus.transition.count": 4 });
  }
  expect([conflict, committed].map((span) => attributesOf(span!)["error.type"])).toEqual(["conflict", undefined]);
});
