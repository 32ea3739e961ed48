import { partialRoute, type RpcRoute, startTeamsServer } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { createLogger } from "@vidimus/kit/telemetry/log";
import { createMetrics } from "@vidimus/kit/telemetry/metrics";
import { Readiness } from "@vidimus/kit/readiness";

export { partialRoute as route };

/** Serves in-test implementations of the internal contracts; `target` is their address. */
export async function openTestServices(...routes: readonly RpcRoute[]): Promise<{ target: string } & AsyncDisposable> {
  const server = await startTeamsServer({
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
