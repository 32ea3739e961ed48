import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "./grpc-transport.ts";
import { messageBytesMax } from "./message-limit.ts";

/** A client whose channel is closed on disposal. */
export type RpcClient<S extends DescService> = Client<S> & Disposable;

/** How to reach a service. */
export interface RpcClientOptions {
  /**
   * `host:port`, resolved by DNS; every address behind the name gets its share of the calls. Or a target with a scheme
   * of gRPC's own: `dns:///host:port`, `ipv4:10.0.0.1:50051,10.0.0.2:50051`, `ipv6:[::1]:50051`.
   */
  target: string;
  /** For calls that bring no deadline; 10 s unless said. */
  defaultTimeoutMs?: number;
}

/** `ipv4` and `ipv6` stand without slashes, and would be looked up as the names of hosts. */
const hasScheme = /^[a-z]+:\/\/|^ipv[46]:/;

/** A typed client for one service, over a grpc-js channel (ADR 0002 says why). Connects on the first call. */
export function openRpcClient<S extends DescService>(service: S, options: RpcClientOptions): RpcClient<S> {
  const transport = createGrpcTransport({
    target: hasScheme.test(options.target) ? options.target : `dns:///${options.target}`,
    messageBytesMax,
    defaultTimeoutMs: options.defaultTimeoutMs ?? 10_000,
  });
  const client = createClient(service, transport);
  return Object.assign(client, { [Symbol.dispose]: () => transport.close() });
}
