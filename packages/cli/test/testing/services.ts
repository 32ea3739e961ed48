import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { type RpcRoute, startRpcServer } from "@vidimus/kit/rpc/server";
import { createLogger } from "@vidimus/kit/log";
import { createMetrics } from "@vidimus/kit/metrics";
import { Readiness } from "@vidimus/kit/readiness";

/** Implements those methods of a service that a test needs. */
export function route<S extends DescService>(service: S, some: Partial<ServiceImpl<S>>): RpcRoute {
  return { service, register: (router) => void router.service(service, some) };
}

/** Serves in-test implementations of the internal contracts; `target` is their address. */
export async function openTestServices(...routes: readonly RpcRoute[]): Promise<{ target: string } & AsyncDisposable> {
  const server = await startRpcServer({
    routes,
    host: "127.0.0.1",
    port: 0,
    readiness: new Readiness(),
    log: createLogger("test", "silent"),
    metrics: createMetrics("test"),
    drainMs: 500,
  });
  return { target: `127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
