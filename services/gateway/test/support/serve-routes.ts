import { createLogger } from "@vidimus/kit/telemetry/log";
import { Registry } from "prom-client";
import { mintApiKey } from "../../src/access/api-key.ts";
import { startHttpServer } from "../../src/http/http-server.ts";
import type { Route } from "../../src/http/route.ts";
import { openPools } from "../../src/pools/pools.ts";
import { RateLimits } from "../../src/rates/rate-limits.ts";

/** A public port without rate limits, and its one key, which has the scope `phrases:read`. */
export async function serveRoutes(
  routes: readonly Route<object>[],
  poolSizes: Parameters<typeof openPools>[1] = {},
  drainMs = 10_000,
) {
  const registry = new Registry();
  const pools = openPools(registry, poolSizes);
  const { key, prefix } = mintApiKey();
  const caller = { tenantId: "acme", keyId: "k", prefix, scopes: ["phrases:read"] as const };
  const server = await startHttpServer({
    host: "127.0.0.1",
    port: 0,
    routes,
    deps: {},
    verifier: { verify: async (presented) => (presented === key ? caller : undefined) },
    limits: new RateLimits({ ipRate: undefined, authFailureRate: undefined, writeBudget: undefined, registry }),
    onUse: () => {},
    trustedProxies: [],
    log: createLogger("test", "silent"),
    registry,
    pools,
    drainMs,
  });
  return { server, key, registry, pools };
}
