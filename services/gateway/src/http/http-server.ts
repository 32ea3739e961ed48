import { withinDeadline } from "@vidimus/kit/deadline";
import { listen } from "@vidimus/kit/listen";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { portOf } from "@vidimus/kit/port";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { Registry } from "prom-client";
import type { Caller, KeyVerifier } from "../access/key-verifier.ts";
import { BeginTurns } from "@vidimus/kit/fair/begin-turns";
import { openPools, type Pools } from "../pools/pools.ts";
import { AnswerBuffers } from "./answers/answer-buffers.ts";
import { AnswerEncoder } from "./answers/answer-encoder.ts";
import { admitRequest } from "./admit-request.ts";
import { createApp } from "./create-app.ts";
import { handleErrors } from "./answers/error-handler.ts";
import { OpenConnections } from "./open-connections.ts";
import { recordExchanges, watchExchanges } from "./exchange/exchange-log.ts";
import type { RateLimits } from "../rates/rate-limits.ts";
import { LongPollLimiter } from "../pools/long-poll-limiter.ts";
import { mountRoutes, requireRouteScopes } from "./mount-routes.ts";
import { receiveBodies } from "./bodies/receive-bodies.ts";
import { requestChecks } from "./request-checks.ts";
import { orderSteps } from "./request-order.ts";
import type { Route } from "./route.ts";
import { UnreadableRequests } from "./unreadable-requests.ts";

interface HttpServerOptions<Deps> {
  host: string;
  /** 0 picks a free port. */
  port: number;
  routes: readonly Route<Deps>[];
  deps: Deps;
  verifier: Pick<KeyVerifier, "verify">;
  limits: RateLimits;
  /** Called for every request whose key was checked and is valid. */
  onUse(caller: Caller): void;
  /** CIDR ranges of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
  /** URL or path of the page that explains error codes; error answers link to it. */
  help?: string | undefined;
  log: Logger;
  registry: Registry;
  /** Undefined while tracing is off. */
  tracing?: Tracing | undefined;
  /** Pools that tenants share; of production's size by default. */
  pools?: Pools;
  /** Milliseconds for which running requests may continue after the stop; 10 s by default. */
  drainMs?: number;
}

/**
 * A listening public port. Disposing it lets running requests finish within the drain time, then
 * cuts off the rest.
 */
interface HttpServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Starts the public API. Rejects with a ConfigError when a `/v1` route declares no scope, or when
 * the host or the port is not usable.
 */
export async function startHttpServer<Deps>(options: HttpServerOptions<Deps>): Promise<HttpServer> {
  const { routes, log, registry, limits, trustedProxies, help, pools = openPools(registry) } = options;
  const record = recordExchanges(log, registry);
  const connections = new OpenConnections();
  const unreadable = new UnreadableRequests({ limits, record, help, connections });
  const app = createApp(trustedProxies, unreadable);
  const longPolls = new LongPollLimiter(pools.longPolls);
  app.addHook("preClose", async () => longPolls.close());
  const encoder = new AnswerEncoder();
  const answers = new AnswerBuffers(pools, encoder, registry);
  app.addHook("onClose", async () => answers[Symbol.dispose]());
  requireRouteScopes(app);
  handleErrors(app, encoder, log, help);
  connections.watch(app);
  unreadable.refuseTunnels(app);
  const bodies = receiveBodies(app, routes, pools.bodies);
  orderSteps(app, {
    open: watchExchanges(app, record, options.tracing),
    admit: admitRequest(limits),
    awaitParser: unreadable.awaitParser,
    expectBody: bodies.expect,
    refuseBroken: unreadable.refuseBroken,
  });
  const resources = { turns: new BeginTurns(), slots: pools.slots, longPolls, answers, releaseBody: bodies.release };
  mountRoutes(app, routes, options.deps, requestChecks(options), resources);
  const address = { host: options.host, port: options.port };
  await listen({ ...address, hostSetting: "HTTP_HOST", portSetting: "HTTP_PORT" }, () => app.listen({ ...address }));
  const port = portOf(app.server.address());
  log.info({ port }, "public port open");
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = app.close();
      if (!(await withinDeadline(closed, options.drainMs ?? 10_000))) connections.cut();
      await closed;
    },
  };
}
