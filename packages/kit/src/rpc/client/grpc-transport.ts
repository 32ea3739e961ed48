import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createContextValues, type Interceptor, type Transport } from "@connectrpc/connect";
import type { StreamRequest, StreamResponse, UnaryRequest, UnaryResponse } from "@connectrpc/connect";
import { createMethodUrl, runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";
import { Channel, type ChannelCredentials, credentials } from "@grpc/grpc-js";
import { freeBuffer } from "../../tuning/free-buffer.ts";
import type { ServiceCredentials } from "../../tls/service-credentials.ts";
import type { Tracing } from "../../telemetry/tracing/tracing.ts";
import { endWithCall, endWithStream, serverAttributes, startClientSpan } from "../context/call-span.ts";
import { channelOptions } from "./channel-options.ts";
import { keepDrainingCalls } from "../grpc-internals.ts";
import { type CallOrder, GrpcExchange } from "./grpc-exchange.ts";
import { requestMetadata } from "../wire/metadata.ts";
import { markPrompt, renewalOptions } from "../replicas/replica-balancer.ts";
import { Replicas } from "../replicas/replicas.ts";
import { withSecondTry } from "../replicas/second-try.ts";
import { fromWire, toWire } from "../../tuning/wire-message.ts";

interface GrpcTransportOptions {
  /**
   * "host:port" or "dns:///host:port" (both use all addresses of the host), or
   * "ipv4:1.2.3.4:1,5.6.7.8:2".
   */
  target: string;
  /**
   * Default: plaintext HTTP/2. Credentials need a `checkServerIdentity`, because the host name of
   * the target is not checked. Those of `serviceCredentials` renew the connections when the
   * certificate changes.
   */
  credentials?: ChannelCredentials | ServiceCredentials;
  /**
   * Largest message in either direction; a larger one fails with ResourceExhausted. Default: 16
   * MiB.
   */
  messageBytesMax?: number;
  /** Bytes that the server may send on a stream before they are read; see `channelOptions`. */
  windowBytes?: number;
  interceptors?: Interceptor[];
  /**
   * Deadline of calls and streams without `timeoutMs`. `timeoutMs: 0` means no deadline. Default:
   * 10 s.
   */
  defaultTimeoutMs?: number;
  /** Records the calls of traces that are recorded, except unary calls with interceptors. */
  tracing?: Tracing | undefined;
}

interface GrpcTransport extends Transport {
  /**
   * Refuses new calls with Unavailable, and closes the connections when running calls have ended.
   */
  close(): void;
}

/** Name that TLS sends to the server. Servers have one certificate and ignore the name. */
const serverName = "vidimus";

/**
 * Makes a Connect transport for unary and server-streaming calls, spread over all addresses of the
 * target.
 */
export function createGrpcTransport(options: GrpcTransportOptions): GrpcTransport {
  const { target, interceptors = [], messageBytesMax = 16 * 1024 * 1024, defaultTimeoutMs = 10_000, tracing } = options;
  keepDrainingCalls();
  const replicas = new Replicas();
  const channel = new Channel(target, options.credentials ?? credentials.createInsecure(), {
    ...channelOptions(replicas, messageBytesMax, options.windowBytes),
    ...(options.credentials && "certificate" in options.credentials && renewalOptions(options.credentials)),
    // By default grpc-js sends the host of the target as TLS server name, and Node refuses to send
    // an IP address.
    ...(options.credentials && { "grpc.ssl_target_name_override": serverName }),
  });
  // The first host and port of the target. Interceptors see it in req.url.
  const authority = target.replace(/^(?:dns|ipv4|ipv6):(?:\/\/[^/]*\/)?|,.*$/g, "");
  const baseUrl = `${options.credentials ? "https" : "http"}://${authority}`;
  const server = serverAttributes(authority);
  let closed = false;
  const assertOpen = () => {
    if (closed) throw new ConnectError(`transport to ${target} is closed`, Code.Unavailable);
  };
  const routeOf = (method: DescMethod, timeoutMs: number): CallRoute => {
    assertOpen();
    const deadline = timeoutMs > 0 ? Date.now() + timeoutMs : Infinity;
    return { channel, path: `/${method.parent.typeName}/${method.name}`, deadline };
  };

  return {
    async unary(method, signal, timeoutMs = defaultTimeoutMs, headers, message, contextValues) {
      const route = routeOf(method, timeoutMs);
      // Without interceptors Connect's `runUnaryCall` is avoided: it makes two AbortControllers, a
      // timer and an error for each call.
      if (interceptors.length === 0) {
        const order = { ...route, signal, metadata: requestMetadata(headers) };
        const span = tracing && startClientSpan(tracing, { method, headers, contextValues, server }, order.metadata);
        return endWithCall(span, callReplicas(replicas, order, method, message));
      }
      const frame = { ...frameOf(baseUrl, method, headers), contextValues: contextValues ?? createContextValues() };
      const req = { ...frame, stream: false as const, method, message };
      const next = ({ signal, header, message }: UnaryRequest<typeof method.input>) =>
        callUnary({ ...route, signal, metadata: requestMetadata(header) }, method, message);
      return runUnaryCall({ interceptors, ...limitsOf(signal, timeoutMs), req, next });
    },
    async stream(method, signal, timeoutMs = defaultTimeoutMs, headers, message, contextValues) {
      const route = routeOf(method, timeoutMs);
      const frame = { ...frameOf(baseUrl, method, headers), contextValues: contextValues ?? createContextValues() };
      const span = tracing && startClientSpan(tracing, { method, headers, contextValues, server }, frame.header);
      const req = { ...frame, stream: true as const, method, message };
      const next = (req: StreamRequest<typeof method.input, typeof method.output>) =>
        endWithStream(span, callServerStreaming(route, req));
      return runStreamingCall({ interceptors, ...limitsOf(signal, timeoutMs), req, next });
    },
    close() {
      closed = true;
      channel.close();
    },
  };
}

/** Makes a call; sends an idempotent one up to three times (`withSecondTry`). */
function callReplicas<I extends DescMessage, O extends DescMessage>(
  replicas: Replicas,
  order: Omit<CallOrder, "body">,
  method: UnaryRequest<I, O>["method"],
  message: MessageInitShape<I>,
): Promise<UnaryResponse<I, O>> {
  if (!isPrompt(method)) return callUnary(order, method, message);
  markPrompt(order.metadata);
  return withSecondTry(replicas, () => callUnary(order, method, message), order.signal);
}

/**
 * Whether the method's proto declares an `idempotency_level`: such a call may be repeated, and its
 * server does not hold the answer back on purpose, as for a long poll.
 */
function isPrompt({ idempotency }: DescMethod): boolean {
  return idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
}

/** Returns the fields of a request that interceptors see beside its message. */
function frameOf(baseUrl: string, method: DescMethod, headers: HeadersInit | undefined) {
  const url = createMethodUrl(baseUrl, method);
  return { requestMethod: "POST", service: method.parent, url, header: new Headers(headers) };
}

function limitsOf(signal: AbortSignal | undefined, timeoutMs: number) {
  return { ...(timeoutMs > 0 && { timeoutMs }), ...(signal && { signal }) };
}

type CallRoute = Pick<CallOrder, "channel" | "path" | "deadline">;

async function callUnary<I extends DescMessage, O extends DescMessage>(
  order: Omit<CallOrder, "body">,
  method: UnaryRequest<I, O>["method"],
  message: MessageInitShape<I>,
): Promise<UnaryResponse<I, O>> {
  const body = toWire(method.input, message);
  const exchange = new GrpcExchange({ ...order, body });
  const bytes = await exchange.readOnly();
  freeBuffer(body);
  exchange.finish();
  if (bytes === undefined) throw new ConnectError("missing output message", Code.Unimplemented);
  return {
    stream: false,
    service: method.parent,
    method,
    message: fromWire(method.output, bytes),
    get header() {
      return exchange.header;
    },
    get trailer() {
      return exchange.trailer;
    },
  };
}

async function callServerStreaming<I extends DescMessage, O extends DescMessage>(
  route: CallRoute,
  { service, method, signal, header, message }: StreamRequest<I, O>,
): Promise<StreamResponse<I, O>> {
  if (method.methodKind !== "server_streaming") {
    throw new ConnectError(`this transport does not carry ${method.methodKind} calls`, Code.Unimplemented);
  }
  const body = toWire(method.input, await firstOf(message));
  const exchange = new GrpcExchange({ ...route, signal, metadata: requestMetadata(header), body });
  await exchange.opened();
  const trailer = new Headers();
  async function* messages(): AsyncGenerator<MessageShape<O>> {
    try {
      for (let bytes = await exchange.read(); bytes; bytes = await exchange.read())
        yield fromWire(method.output, bytes);
      exchange.finish();
      exchange.trailer.forEach((value, key) => trailer.set(key, value));
    } finally {
      exchange.cancel();
    }
  }
  return { stream: true, service, method, header: exchange.header, trailer, message: messages() };
}

async function firstOf<T>(messages: AsyncIterable<T>): Promise<T> {
  for await (const message of messages) return message;
  throw new ConnectError("missing input message", Code.Unimplemented);
}
