import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { patient } from "../../testing/patient.ts";
import { EnvReader } from "../../env.ts";
import { logLines } from "../../rpc/testing/log-lines.ts";
import { attributesOf, openOtlpReceiver, type OtlpReceiver } from "../../testing/otlp-receiver.ts";
import { OtlpTracing } from "./otlp-tracing.ts";
import { readTracingConfig } from "./tracing-config.ts";
import { isSampled } from "./tracing.ts";

let collector: OtlpReceiver;
let open: OtlpTracing | undefined;

beforeEach(async () => {
  collector = await openOtlpReceiver();
});
afterEach(async () => {
  collector.answerWith(200);
  await open?.[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

function start(variables: Record<string, string> = {}) {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "10", ...variables };
  const config = readTracingConfig(new EnvReader(env))!;
  const registry = new Registry();
  const { log, lines } = logLines("debug");
  open = new OtlpTracing({ service: "delivery", config, log, registry });
  const spansBy = async (outcome: string) => {
    const text = await registry.metrics();
    return Number(new RegExp(`vidimus_trace_spans_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]);
  };
  return { tracing: open, lines, spansBy };
}

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const sampled = `00-${traceId}-00f067aa0ba902b7-01`;
const unsampled = `00-${traceId}-00f067aa0ba902b7-00`;
const parents = { "an unsampled": unsampled, "a sampled": sampled, no: undefined };
type Parent = keyof typeof parents;
type Outcome = "sampled" | "not sampled";

describe("spans", () => {
  it("reach the collector with service, parent, links, attributes and failure", async () => {
    const { tracing } = start({ OTEL_RESOURCE_ATTRIBUTES: "team=desk" });
    const link = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const order = { name: "work", kind: "client", parent: sampled, links: [link] } as const;
    const span = tracing.start({ ...order, attributes: { a: "1", absent: undefined }, startedAt: Date.now() - 1_000 });
    span.end({ b: 2 }, "timeout");
    span.end({}, "a second end has no effect");
    await vi.waitFor(() => expect(collector.spans).toHaveLength(1), patient);
    const [received] = collector.spans;
    expect(received).toMatchObject({
      service: "delivery",
      name: "work",
      kind: 3,
      traceId,
      parentSpanId: "00f067aa0ba902b7",
      links: [{ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" }],
      status: { code: 2 },
    });
    expect(attributesOf(received!)).toEqual({ a: "1", b: 2, "error.type": "timeout" });
    expect(span.traceparent).toBe(`00-${traceId}-${received!.spanId}-01`);
    const ms = (Number(received!.endTimeUnixNano) - Number(received!.startTimeUnixNano)) / 1e6;
    expect(ms).toBeGreaterThanOrEqual(1_000);
    expect(collector.bodies[0]).toContain('"team"');
  });

  it("cut a long attribute at 256 characters: a caller may name a tenant of megabytes", async () => {
    const { tracing } = start();
    tracing.start({ name: "work", kind: "server", parent: undefined }).end({ tenant: "x".repeat(1_000_000) });
    await vi.waitFor(() => expect(collector.spans).toHaveLength(1), patient);
    expect(attributesOf(collector.spans[0]!)["tenant"]).toBe("x".repeat(256));
  });

  it.each<[string, Parent, Outcome]>([
    ["parentbased_always_on", "an unsampled", "not sampled"],
    ["parentbased_always_off", "a sampled", "sampled"],
    ["always_on", "an unsampled", "sampled"],
    ["always_off", "a sampled", "not sampled"],
    ["parentbased_always_off", "no", "not sampled"],
    ["parentbased_always_on", "no", "sampled"],
  ])("of the sampler %s with %s parent are %s", (sampler, of, outcome) => {
    const { tracing } = start({ OTEL_TRACES_SAMPLER: sampler });
    const parent = parents[of];
    const { traceparent } = tracing.start({ name: "work", kind: "server", parent });
    expect(isSampled(traceparent)).toBe(outcome === "sampled");
    if (parent !== undefined) expect(traceparent).toContain(traceId);
  });

  it.each<[string, Parent, Outcome]>([
    ["parentbased_always_on", "an unsampled", "sampled"],
    ["parentbased_always_off", "a sampled", "not sampled"],
    ["always_on", "an unsampled", "sampled"],
    ["always_off", "a sampled", "not sampled"],
    ["parentbased_always_on", "no", "sampled"],
  ])("of the sampler %s with %s parent from the public port are %s", (sampler, of, outcome) => {
    const { tracing } = start({ OTEL_TRACES_SAMPLER: sampler });
    const parent = parents[of];
    const { traceparent } = tracing.start({ name: "work", kind: "server", parent, isEdge: true });
    expect(isSampled(traceparent)).toBe(outcome === "sampled");
    if (parent !== undefined) expect(traceparent).toContain(traceId);
  });

  /** Starts spans without a parent, with a sampler that records a quarter of the traces. */
  function startQuarter(count: number) {
    const { tracing } = start({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" });
    const edges = Array.from({ length: count }, () => tracing.start({ name: "w", kind: "server", parent: undefined }));
    return { tracing, edges };
  }

  it("of the sampler traceidratio are sampled in about the given share of the traces", () => {
    const { edges } = startQuarter(2_000);
    const share = edges.filter(({ traceparent }) => isSampled(traceparent)).length / edges.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.3);
  });

  it("of the sampler traceidratio are sampled exactly when their parents are", () => {
    const { tracing, edges } = startQuarter(100);
    for (const { traceparent } of edges) {
      const again = tracing.start({ name: "w", kind: "server", parent: traceparent });
      expect(isSampled(again.traceparent)).toBe(isSampled(traceparent));
    }
  });
});

describe("a collector", () => {
  const emit = (tracing: OtlpTracing, count: number) => {
    for (let index = 0; index < count; index += 1) {
      tracing.start({ name: "work", kind: "internal", parent: sampled }).end();
    }
  };

  /** Ends 100 spans: 10 are posted and get no answer, and 20 wait in the queue. */
  function emitHundred() {
    const { tracing, spansBy } = start({ OTEL_BSP_MAX_QUEUE_SIZE: "20", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "10" });
    collector.answerWith(undefined);
    emit(tracing, 100);
    return { tracing, spansBy };
  }

  it("that does not answer makes the spans beyond the queue count as dropped", async () => {
    const { spansBy } = emitHundred();
    expect(await spansBy("dropped")).toBe(70);
  });

  it("that does not answer delays a stop by at most four seconds, and all spans count as dropped then", async () => {
    const { tracing, spansBy } = emitHundred();
    const startedMs = performance.now();
    await tracing[Symbol.asyncDispose]();
    expect(performance.now() - startedMs).toBeLessThan(4_000);
    expect(await spansBy("dropped")).toBe(100);
  });

  /** Ends three batches of spans, which the collector refuses. */
  async function refuse() {
    const { tracing, lines, spansBy } = start({ OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "10" });
    collector.answerWith(400);
    emit(tracing, 30);
    await vi.waitFor(async () => expect(await spansBy("failed")).toBe(30), patient);
    return { lines };
  }

  it("that refuses spans makes them count as failed", async () => {
    await refuse();
  });

  it("that refuses three batches of spans is logged once", async () => {
    const { lines } = await refuse();
    expect(lines).toEqual([expect.objectContaining({ level: "warn", msg: "spans were not taken by the collector" })]);
  });

  it("gets the waiting spans when the process stops", async () => {
    const { tracing, spansBy } = start({ OTEL_BSP_SCHEDULE_DELAY: "60000" });
    emit(tracing, 5);
    await tracing[Symbol.asyncDispose]();
    expect(collector.spans).toHaveLength(5);
    expect(await spansBy("exported")).toBe(5);
  });
});
