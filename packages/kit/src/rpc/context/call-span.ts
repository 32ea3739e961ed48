import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import type { CallOptions, ContextValues, StreamResponse } from "@connectrpc/connect";
import { Code, ConnectError, createContextKey, createContextValues } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { experimental } from "@grpc/grpc-js";
import { isSampled, sampledOf, type Span, type SpanAttributes, type Tracing } from "../../telemetry/tracing/tracing.ts";

/** Traceparents to which a call's span links; its parent's is in the metadata. */
const linksKey = createContextKey<readonly string[] | undefined>(undefined);

const noOptions: CallOptions = {};

/**
 * Options of a call that is made for several traces: its span belongs to the first recorded one and
 * links to the other recorded ones. Empty when none is recorded.
 */
export function tracedFor(traceparents: Iterable<string | undefined>): CallOptions {
  const [traceparent, ...links] = sampledOf(traceparents);
  if (traceparent === undefined) return noOptions;
  const headers = { traceparent };
  return links.length === 0 ? { headers } : { headers, contextValues: createContextValues().set(linksKey, links) };
}

/** The options of one call that is made for several callers. */
interface SharedCall {
  /** Metadata of the first caller whose trace is recorded, or of the first caller when none is. */
  readonly headers: HeadersInit;
  /** Links to the other recorded traces, if there are any. */
  readonly contextValues?: ContextValues;
}

export function shareCall(calls: readonly CallOptions[]): SharedCall {
  const sampled = calls.filter(({ headers }) => isSampled(traceparentIn(headers)));
  const [leader = calls[0], ...others] = sampled;
  const headers = leader?.headers ?? {};
  if (others.length === 0) return { headers };
  const links = others.flatMap((call) => traceparentIn(call.headers) ?? []);
  return { headers, contextValues: createContextValues().set(linksKey, links) };
}

export function traceparentIn(headers: HeadersInit | undefined): string | undefined {
  if (headers === undefined) return undefined;
  if (headers instanceof Headers) return headers.get("traceparent") ?? undefined;
  if (Symbol.iterator in headers) return new Headers(headers).get("traceparent") ?? undefined;
  const value: unknown = headers["traceparent"];
  return typeof value === "string" ? value : undefined;
}

interface ClientCall {
  readonly method: DescMethod;
  readonly headers: HeadersInit | undefined;
  readonly contextValues: ContextValues | undefined;
  /** From `serverAttributes`. */
  readonly server: SpanAttributes;
}

/**
 * The attributes of client spans that name the server.
 *
 * @param authority "host:port"; without a port it is 443, as for grpc-js
 */
export function serverAttributes(authority: string): SpanAttributes {
  const { host = authority, port = 443 } = experimental.splitHostPort(authority) ?? {};
  return { "server.address": host, "server.port": port };
}

/**
 * Starts the span of a call to another service, and sets it as parent in the call's metadata.
 * Undefined when the trace is not recorded.
 */
export function startClientSpan(
  tracing: Tracing,
  { method, headers, contextValues, server }: ClientCall,
  metadata: { set(name: string, value: string): void },
): Span | undefined {
  const parent = traceparentIn(headers);
  if (!isSampled(parent)) return undefined;
  const links = contextValues?.get(linksKey);
  const attributes = { ...methodAttributes(method), ...server };
  const span = tracing.start({ name: nameOf(method), kind: "client", parent, attributes, ...(links && { links }) });
  metadata.set("traceparent", span.traceparent);
  return span;
}

export function endWithCall<T>(span: Span | undefined, call: Promise<T>): Promise<T> {
  if (!span) return call;
  return call.then(
    (answer) => {
      span.end(statusAttributes(undefined));
      return answer;
    },
    (error: unknown) => {
      endFailed(span, error);
      throw error;
    },
  );
}

export async function endWithStream<I extends DescMessage, O extends DescMessage>(
  span: Span | undefined,
  answer: Promise<StreamResponse<I, O>>,
): Promise<StreamResponse<I, O>> {
  if (!span) return answer;
  try {
    const response = await answer;
    return { ...response, message: endWithMessages(span, response.message) };
  } catch (error) {
    endFailed(span, error);
    throw error;
  }
}

async function* endWithMessages<T>(span: Span, messages: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* messages;
    span.end(statusAttributes(undefined));
  } catch (error) {
    endFailed(span, error);
    throw error;
  } finally {
    // Reached also when the reader leaves in the middle. Ending a span a second time has no effect.
    span.end(statusAttributes(Code.Canceled));
  }
}

function endFailed(span: Span, error: unknown): void {
  const { code } = ConnectError.from(error);
  span.end(statusAttributes(code), statusName(code));
}

interface ServerCall {
  readonly method: DescMethod;
  /** The traceparent of the metadata; undefined when they have none that is well formed. */
  readonly parent: string | undefined;
}

export function startServerSpan(tracing: Tracing, { method, parent }: ServerCall): Span {
  return tracing.start({ name: nameOf(method), kind: "server", parent, attributes: methodAttributes(method) });
}

/** Statuses that mean a fault of the server, by OpenTelemetry's conventions for gRPC. */
const serverFaults: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

export function endServerSpan(span: Span, error: ConnectError | undefined, attributes: SpanAttributes): void {
  const isFault = error !== undefined && serverFaults.has(error.code);
  span.end({ ...attributes, ...statusAttributes(error?.code) }, isFault ? statusName(error.code) : undefined);
}

function nameOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

function methodAttributes(method: DescMethod): SpanAttributes {
  return { "rpc.system.name": "grpc", "rpc.method": nameOf(method) };
}

function statusAttributes(code: Code | undefined): SpanAttributes {
  return { "rpc.response.status_code": code === undefined ? "OK" : statusName(code) };
}

/** gRPC's name of a code, for example DEADLINE_EXCEEDED. */
function statusName(code: Code): string {
  // gRPC spells this code with two Ls, Connect with one.
  return code === Code.Canceled ? "CANCELLED" : codeToString(code).toUpperCase();
}
