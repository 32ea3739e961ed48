import type { DescMessage, DescMethod, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues, encodeBinaryHeader } from "@connectrpc/connect";
import type { Interceptor, Transport } from "@connectrpc/connect";
import type { StreamRequest, StreamResponse, UnaryRequest, UnaryResponse } from "@connectrpc/connect";
import { createClientMethodSerializers, createMethodUrl } from "@connectrpc/connect/protocol";
import { runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";
import { validateTrailer } from "@connectrpc/connect/protocol-grpc";
import * as grpc from "@grpc/grpc-js";
import { channelOptions } from "./channel-options.ts";

export interface GrpcTransportOptions {
  /** "host:port", "dns:///host:port" (every address of the name is used), or a list "ipv4:1.2.3.4:1,5.6.7.8:2". */
  target: string;
  /** Default: plaintext HTTP/2. */
  credentials?: grpc.ChannelCredentials;
  /** Largest message in either direction; a larger one fails with ResourceExhausted. Default: 16 MiB. */
  messageBytesMax?: number;
  interceptors?: Interceptor[];
  /** Deadline of calls that bring none, streams included. A call with `timeoutMs: 0` has no deadline. Default: 10 s. */
  defaultTimeoutMs?: number;
}

export interface GrpcTransport extends Transport {
  /** Refuses new calls with Unavailable, and closes the connections once the calls in flight have ended. */
  close(): void;
}

/** A Connect transport for unary and server-streaming calls. It spreads calls over every address of the target. */
export function createGrpcTransport(options: GrpcTransportOptions): GrpcTransport {
  const { target, interceptors = [], messageBytesMax = 16 * 1024 * 1024, defaultTimeoutMs = 10_000 } = options;
  const security = options.credentials ?? grpc.credentials.createInsecure();
  // Only interceptors see it, in req.url: the first host and port of the target, whatever its scheme.
  const authority = target.replace(/^(?:dns|ipv4|ipv6):(?:\/\/[^/]*\/)?|,.*$/g, "");
  const baseUrl = `${options.credentials ? "https" : "http"}://${authority}`;
  const client = new grpc.Client(target, security, channelOptions(messageBytesMax));
  let closed = false;
  function begin(method: DescMethod, signal: AbortSignal | undefined, timeoutMs: number, headers?: HeadersInit) {
    if (closed) throw new ConnectError(`transport to ${target} is closed`, Code.Unavailable);
    const frame = { service: method.parent, url: createMethodUrl(baseUrl, method), header: new Headers(headers) };
    const limits = { interceptors, ...(timeoutMs > 0 && { timeoutMs }), ...(signal && { signal }) };
    return { frame, limits, deadline: timeoutMs > 0 ? Date.now() + timeoutMs : Infinity };
  }

  return {
    async unary(method, signal, timeoutMs = defaultTimeoutMs, headers, message, values = createContextValues()) {
      const { frame, limits, deadline } = begin(method, signal, timeoutMs, headers);
      const req = { ...frame, stream: false as const, requestMethod: "POST", method, message, contextValues: values };
      return runUnaryCall({ ...limits, req, next: (req) => callUnary(client, deadline, req) });
    },
    async stream(method, signal, timeoutMs = defaultTimeoutMs, headers, message, values = createContextValues()) {
      const { frame, limits, deadline } = begin(method, signal, timeoutMs, headers);
      const req = { ...frame, stream: true as const, requestMethod: "POST", method, message, contextValues: values };
      return runStreamingCall({ ...limits, req, next: (req) => callServerStreaming(client, deadline, req) });
    },
    close() {
      closed = true;
      client.close();
    },
  };
}

async function callUnary<I extends DescMessage, O extends DescMessage>(
  client: grpc.Client,
  deadline: number,
  req: UnaryRequest<I, O>,
): Promise<UnaryResponse<I, O>> {
  const { service, method, signal } = req;
  const { serialize, parse } = createClientMethodSerializers(method, true);
  const body = asBuffer(serialize(req.message));
  const metadata = toMetadata(req.header);
  signal.throwIfAborted();
  let bytes: Buffer | undefined;
  const keep = (_: unknown, value?: Buffer) => void (bytes = value);
  const call = client.makeUnaryRequest(pathOf(method), same, same, body, metadata, { deadline }, keep);
  let initial: grpc.Metadata | undefined;
  call.once("metadata", (received: grpc.Metadata) => (initial = received));
  const status = await ended(call, signal);
  const header = toHeaders(initial);
  const trailer = finish(status, header);
  if (bytes === undefined) throw new ConnectError("missing output message", Code.Unimplemented);
  return { stream: false, service, method, header, trailer, message: parse(asUint8Array(bytes)) };
}

async function callServerStreaming<I extends DescMessage, O extends DescMessage>(
  client: grpc.Client,
  deadline: number,
  req: StreamRequest<I, O>,
): Promise<StreamResponse<I, O>> {
  const { service, method, signal } = req;
  if (method.methodKind !== "server_streaming") {
    throw new ConnectError(`this transport does not carry ${method.methodKind} calls`, Code.Unimplemented);
  }
  const { serialize, parse } = createClientMethodSerializers(method, true);
  const body = asBuffer(serialize(await firstOf(req.message)));
  const metadata = toMetadata(req.header);
  signal.throwIfAborted();
  const call = client.makeServerStreamRequest(pathOf(method), same, same, body, metadata, { deadline });
  const status = ended(call, signal);
  const first = await Promise.race([new Promise<grpc.Metadata>((resolve) => call.once("metadata", resolve)), status]);
  const header = toHeaders(first instanceof grpc.Metadata ? first : undefined);
  if (!(first instanceof grpc.Metadata)) finish(first, header);
  const trailer = new Headers();
  async function* messages(): AsyncGenerator<MessageShape<O>> {
    for await (const bytes of receive(call)) yield parse(asUint8Array(bytes));
    finish(await status, header).forEach((value, key) => trailer.set(key, value));
  }
  return { stream: true, service, method, header, trailer, message: messages() };
}

/** What the server sent, in order. Ends quietly when the call failed: its status tells why. */
async function* receive(call: grpc.ClientReadableStream<Buffer>): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = call[Symbol.asyncIterator]();
  try {
    const next = () => chunks.next().catch(() => undefined);
    for (let chunk = await next(); chunk && !chunk.done; chunk = await next()) yield chunk.value;
  } finally {
    // Stops the server when the reader left early; a call that has ended does not mind.
    call.cancel();
  }
}

function ended(call: grpc.ClientUnaryCall, signal: AbortSignal): Promise<grpc.StatusObject> {
  const cancel = () => call.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  // The status says the same; without a listener, the error of a stream that nobody reads yet ends the process.
  call.on("error", () => undefined);
  return new Promise((resolve) => {
    call.once("status", (status: grpc.StatusObject) => {
      signal.removeEventListener("abort", cancel);
      resolve(status);
    });
  });
}

/** Trailers of a call that succeeded; throws the ConnectError of one that failed, details and metadata included. */
function finish(status: grpc.StatusObject, header: Headers): Headers {
  const trailer = toHeaders(status.metadata);
  trailer.set("grpc-status", String(status.code));
  trailer.set("grpc-message", encodeURIComponent(status.details));
  validateTrailer(trailer, header);
  // Reached by a failed call only if its grpc-status-details-bin claims success.
  if (status.code !== grpc.status.OK) throw new ConnectError(status.details, Code.Unknown, trailer);
  return trailer;
}

/** Written by grpc-js itself; a value set by a caller would contradict it. */
const protocolHeaders = new Set(["content-type", "te", "grpc-timeout", "grpc-encoding", "grpc-accept-encoding"]);

function toMetadata(headers: Headers): grpc.Metadata {
  const metadata = new grpc.Metadata();
  headers.forEach((value, key) => {
    if (protocolHeaders.has(key)) return;
    if (!key.endsWith("-bin")) return metadata.add(key, value);
    for (const item of value.split(",")) metadata.add(key, Buffer.from(item, "base64"));
  });
  return metadata;
}

function toHeaders(metadata: grpc.Metadata | undefined): Headers {
  const headers = new Headers();
  for (const [key, values] of Object.entries(metadata?.toJSON() ?? {})) {
    for (const value of values) headers.append(key, typeof value === "string" ? value : encodeBinaryHeader(value));
  }
  return headers;
}

async function firstOf<T>(messages: AsyncIterable<T>): Promise<T> {
  for await (const message of messages) return message;
  throw new ConnectError("missing input message", Code.Unimplemented);
}

const pathOf = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;
const same = (bytes: Buffer): Buffer => bytes;
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Bytes fields are views of what is parsed, and a Buffer there would not compare equal to a Uint8Array. */
const asUint8Array = (buffer: Buffer): Uint8Array => new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
