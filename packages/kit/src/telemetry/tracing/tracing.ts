/** What a span says of its place: OpenTelemetry's kinds, as far as they are used. */
export type SpanKind = "server" | "client" | "consumer" | "internal";

/** Names and values of OpenTelemetry's semantic conventions, or of our own: `vidimus.…`. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** A step of a trace that is about to start. */
export interface SpanOrder {
  readonly name: string;
  readonly kind: SpanKind;
  /** W3C Trace Context of the step that it belongs to; undefined begins a trace. */
  readonly parent: string | undefined;
  /** The parent comes from outside: it names the trace, and the sampler alone decides about it. */
  readonly isEdge?: boolean;
  /** W3C Trace Contexts of other traces that the step works for, too. */
  readonly links?: readonly string[];
  readonly attributes?: SpanAttributes;
  /** Milliseconds since 1970; now by default. */
  readonly startedAt?: number;
}

/** A step of a trace. */
export interface Span {
  /** W3C Trace Context of the step: what it causes names this as its parent. */
  readonly traceparent: string;
  /**
   * Ends the step; only the first call counts.
   *
   * @param errorType class of the failure, for `error.type`; undefined when it succeeded
   */
  end(attributes?: SpanAttributes, errorType?: string): void;
}

/** Records the steps of traces. A service has it only while tracing is configured. */
export interface Tracing {
  /**
   * Starts a step. The sampler decides whether it is recorded, and the flag of its traceparent tells
   * the services behind it.
   */
  start(order: SpanOrder): Span;
}

/** Whether a trace is recorded, by the flag that its edge has set. */
export function isSampled(traceparent: string | undefined): traceparent is string {
  return traceparent !== undefined && (Number.parseInt(traceparent.charAt(54), 16) & 1) === 1;
}

/** The recorded ones of some traces, each once. */
export function sampledOf(traceparents: Iterable<string | undefined>): string[] {
  return Array.from(new Set(traceparents)).filter(isSampled);
}

/**
 * Starts a step inside of the platform, whose edge has decided whether the trace is recorded.
 * Undefined when it is not, or while tracing is off: then nothing is allocated.
 */
export function continueTrace(tracing: Tracing | undefined, order: SpanOrder): Span | undefined {
  return tracing && isSampled(order.parent) ? tracing.start(order) : undefined;
}
