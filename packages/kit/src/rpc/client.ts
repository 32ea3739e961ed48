import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "./grpc-transport.ts";
import { messageBytesMax } from "./message-limit.ts";

/** A client whose channel is closed on disposal. */
export type RpcClient<S extends DescService> = Client<S> & Disposable;

/** How to reach a service. */
export interface RpcClientOptions {
  /** `host:port`, resolved by DNS; every address behind the name gets its share of the calls. */
  target: string;
  /** For calls that bring no deadline; 10 s unless said. */
  defaultTimeoutMs?: number;
}

/** A typed client for one service, over a grpc-js channel (ADR 0002 says why). Connects on the first call. */
export function openRpcClient<S extends DescService>(service: S, options: RpcClientOptions): RpcClient<S> {
  const transport = createGrpcTransport({
    target: options.target.includes(":///") ? options.target : `dns:///${options.target}`,
    messageBytesMax,
    defaultTimeoutMs: options.defaultTimeoutMs ?? 10_000,
  });
  const client = createClient(service, transport);
  return Object.assign(client, { [Symbol.dispose]: () => transport.close() });
}
