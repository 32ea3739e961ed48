/** OpenTelemetry's span kinds, as far as they are used. */
export type SpanKind = "server" | "client" | "consumer" | "internal";

/** Names and values of OpenTelemetry's semantic conventions, or of our own: `vidimus.…`. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanOrder {
  readonly name: string;
  readonly kind: SpanKind;
  /** W3C Trace Context of the parent; undefined begins a trace. */
  readonly parent: string | undefined;
  /**
   * Whether the parent comes from the public port: its trace id is used, but the sampler alone
   * decides whether the trace is recorded.
   */
  readonly isEdge?: boolean;
  /** W3C Trace Contexts of other traces for which the work is done, too. */
  readonly links?: readonly string[];
  readonly attributes?: SpanAttributes;
  /** Milliseconds since 1970; now by default. */
  readonly startedAt?: number;
}

export interface Span {
  /** W3C Trace Context of this span, to be the `parent` of spans that this span causes. */
  readonly traceparent: string;
  /**
   * Ends the span; only the first call counts.
   *
   * @param errorType class of the failure, for `error.type`; undefined when the work succeeded
   */
  end(attributes?: SpanAttributes, errorType?: string): void;
}

/** A service has a `Tracing` only when an endpoint for traces is configured. */
export interface Tracing {
  /**
   * The sampler decides whether the span is recorded. The flag of the span's traceparent tells
   * other services what the sampler decided.
   */
  start(order: SpanOrder): Span;
}

/** Whether the sampled flag of a valid traceparent is set, so that its trace is recorded. */
export function isSampled(traceparent: string | undefined): traceparent is string {
  return traceparent !== undefined && (Number.parseInt(traceparent.charAt(54), 16) & 1) === 1;
}

/** Those of the given traceparents whose trace is recorded, without duplicates. */
export function sampledOf(traceparents: Iterable<string | undefined>): string[] {
  return Array.from(new Set(traceparents)).filter(isSampled);
}

/**
 * Starts a span inside of the platform, whose edge has decided whether the trace is recorded.
 * Undefined when the trace is not recorded or tracing is off.
 */
export function continueTrace(tracing: Tracing | undefined, order: SpanOrder): Span | undefined {
  return tracing && isSampled(order.parent) ? tracing.start(order) : undefined;
}
