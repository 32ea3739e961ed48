import { type Context, ROOT_CONTEXT, type Span as OtelSpan, type SpanContext } from "@opentelemetry/api";
import { SpanKind as OtelKind, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import { type Sampler as OtelSampler, TracerProvider } from "@opentelemetry/sdk-trace";
import { randomUUID } from "node:crypto";
import type { Registry } from "prom-client";
import { randomHex } from "../../random-hex.ts";
import type { Logger } from "../log.ts";
import { CountingProcessor } from "./counting-processor.ts";
import type { Span, SpanAttributes, SpanKind, SpanOrder, Tracing } from "./tracing.ts";
import type { TracingConfig } from "./tracing-config.ts";

interface OtlpTracingOptions {
  readonly service: string;
  readonly config: TracingConfig;
  readonly log: Logger;
  readonly registry: Registry;
}

const kinds: { readonly [K in SpanKind]: OtelKind } = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  consumer: OtelKind.CONSUMER,
  internal: OtelKind.INTERNAL,
};

/**
 * Replaces the SDK's generator, which calls Math.random four times for a trace id and twice for a
 * span id, and so causes a tenth of a span's cost.
 */
const idGenerator = { generateTraceId: () => randomHex(16), generateSpanId: () => randomHex(8) };

/**
 * Values of attributes are cut to this length, because callers choose some of them, for example an
 * unknown tenant id.
 */
const attributeCharactersMax = 256;

export class OtlpTracing implements Tracing, AsyncDisposable {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  /** Decides about a trace that begins here or enters at the public port (`isEdge`). */
  readonly #root: OtelSampler;

  constructor({ service, config, log, registry }: OtlpTracingOptions) {
    this.#root = rootSamplerOf(config.sampler.ratio);
    const { url, headers, timeoutMs: timeoutMillis } = config;
    const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis });
    const own = { "service.namespace": "vidimus", "service.instance.id": randomUUID() };
    const resource = { ...own, ...config.resource, "service.name": config.serviceName ?? service };
    this.#provider = new TracerProvider({
      resource: defaultResource().merge(resourceFromAttributes(resource)),
      sampler: config.sampler.isParentBased ? new ParentBasedSampler({ root: this.#root }) : this.#root,
      idGenerator,
      spanLimits: { attributeValueLengthLimit: attributeCharactersMax },
      spanProcessors: [new CountingProcessor({ exporter, config: config.queue, log, registry })],
    });
    this.#tracer = this.#provider.getTracer("vidimus");
  }

  start({ name, kind, parent, isEdge = false, links, attributes, startedAt }: SpanOrder): Span {
    const options = {
      kind: kinds[kind],
      ...(attributes && { attributes }),
      ...(links && { links: links.map((link) => ({ context: spanContextOf(link) })) }),
      ...(startedAt === undefined ? {} : { startTime: new Date(startedAt) }),
    };
    return new RecordedSpan(this.#tracer.startSpan(name, options, contextOf(isEdge ? this.#decided(parent) : parent)));
  }

  /**
   * Replaces the sampled flag of a parent from the public port by the sampler's own decision, as
   * for a trace without a parent.
   */
  #decided(parent: string | undefined): string | undefined {
    if (parent === undefined) return undefined;
    const { traceId } = spanContextOf(parent);
    const { decision } = this.#root.shouldSample(ROOT_CONTEXT, traceId, "", OtelKind.SERVER, {}, []);
    return `${parent.slice(0, -2)}${decision === SamplingDecision.RECORD_AND_SAMPLED ? "01" : "00"}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provider.shutdown();
  }
}

class RecordedSpan implements Span {
  readonly traceparent: string;
  readonly #span: OtelSpan;

  constructor(span: OtelSpan) {
    this.#span = span;
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceparent = `00-${traceId}-${spanId}-${traceFlags === 1 ? "01" : "00"}`;
  }

  end(attributes: SpanAttributes = {}, errorType?: string): void {
    if (!this.#span.isRecording()) return;
    this.#span.setAttributes(attributes);
    if (errorType !== undefined) {
      this.#span.setAttribute("error.type", errorType).setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

function contextOf(parent: string | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent));
}

/** Parses a valid W3C Trace Context; a malformed one is not noticed. */
function spanContextOf(traceparent: string): SpanContext {
  const [, traceId = "", spanId = "", flags = ""] = traceparent.split("-");
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

function rootSamplerOf(ratio: number): OtelSampler {
  if (ratio === 1) return new AlwaysOnSampler();
  return ratio === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}
