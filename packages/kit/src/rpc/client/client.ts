import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import type { ChannelCredentials } from "@grpc/grpc-js";
import type { Tracing } from "../../telemetry/tracing/tracing.ts";
import { createGrpcTransport } from "./grpc-transport.ts";
import { messageBytesMax } from "../wire/message-limit.ts";

export type RpcClient<S extends DescService> = Client<S> & Disposable;

interface RpcClientOptions {
  /**
   * `host:port`, or a gRPC target such as `dns:///host:port`, `ipv4:10.0.0.1:7051,10.0.0.2:7051`
   * or `ipv6:[::1]:7051`. Calls are spread over all addresses of the target.
   */
  target: string;
  /** Plaintext when undefined. */
  credentials?: RpcCredentials | undefined;
  /** Deadline of calls without `timeoutMs`; 10 s by default. */
  defaultTimeoutMs?: number;
  /** Bytes that the server may send on a stream before they are read; see `channelOptions`. */
  windowBytes?: number;
  /** Undefined while tracing is off. */
  tracing?: Tracing | undefined;
  wrap?: (transport: Transport) => Transport;
}

/** From `serviceCredentials` or `fileCredentials`. */
export type RpcCredentials = ChannelCredentials;

/**
 * `ipv4` and `ipv6` targets have no slashes; without their own pattern they would count as host
 * names.
 */
const hasScheme = /^[a-z]+:\/\/|^ipv[46]:/;

/**
 * Makes a typed client of one service over a grpc-js channel (ADR 0002). Connects at the first
 * call.
 */
export function openRpcClient<S extends DescService>(service: S, options: RpcClientOptions): RpcClient<S> {
  const transport = createGrpcTransport({
    target: hasScheme.test(options.target) ? options.target : `dns:///${options.target}`,
    messageBytesMax,
    defaultTimeoutMs: options.defaultTimeoutMs ?? 10_000,
    ...(options.credentials && { credentials: options.credentials }),
    ...(options.windowBytes === undefined ? {} : { windowBytes: options.windowBytes }),
    tracing: options.tracing,
  });
  const client = createClient(service, options.wrap?.(transport) ?? transport);
  return Object.assign(client, { [Symbol.dispose]: () => transport.close() });
}
