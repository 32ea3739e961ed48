import { withinDeadline } from "@vidimus/kit/deadline";
import { listen } from "@vidimus/kit/service/listen";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { portOf } from "@vidimus/kit/service/port";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { Registry } from "prom-client";
import type { Caller, KeyVerifier } from "../access/key-verifier.ts";
import { LoopTurns } from "../limits/loop-turns.ts";
import { openPools, type Pools } from "../limits/pools.ts";
import { AnswerBuffers } from "./answers/answer-buffers.ts";
import { AnswerEncoder } from "./answers/answer-encoder.ts";
import { createApp } from "./create-app.ts";
import { handleErrors, notFound } from "./errors/error-handler.ts";
import { Connections } from "./connections.ts";
import { recordExchanges, watchExchanges } from "./exchange/exchange-log.ts";
import { HttpError } from "./errors/http-error.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import { LongPollLimiter } from "../limits/long-poll-limiter.ts";
import { mountRoutes, requireRouteScopes } from "./mount-routes.ts";
import { receiveBodies } from "./bodies/receive-bodies.ts";
import { readTarget } from "./request-target.ts";
import { requestChecks } from "./request-checks.ts";
import type { Route } from "./route.ts";

/** How the public port runs. */
interface HttpServerOptions<Deps> {
  host: string;
  /** 0 picks a free port. */
  port: number;
  routes: readonly Route<Deps>[];
  deps: Deps;
  verifier: Pick<KeyVerifier, "verify">;
  limits: RateLimits;
  /** Called for every request with a valid key. */
  onUse(caller: Caller): void;
  /** CIDR ranges of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
  /** URL of the page that explains the codes of errors; answers link to it. */
  help?: string | undefined;
  log: Logger;
  registry: Registry;
  /** Undefined while tracing is off. */
  tracing?: Tracing | undefined;
  /** Pools that tenants share; of production's size by default. */
  pools?: Pools;
  /** How long running requests may go on after the stop; 10 s by default. */
  drainMs?: number;
}

/**
 * A listening public port. Disposing lets running requests finish within the drain time, then cuts
 * the rest.
 */
interface HttpServer extends AsyncDisposable {
  readonly port: number;
}

/** Starts the public API. Rejects with a ConfigError when a `/v1` route declares no scope. */
export async function startHttpServer<Deps>(options: HttpServerOptions<Deps>): Promise<HttpServer> {
  const { routes, log, registry, limits, trustedProxies, help, pools = openPools(registry) } = options;
  const record = recordExchanges(log, registry);
  const connections = new Connections({ limits, record, help });
  const app = createApp(trustedProxies, connections);
  const longPolls = new LongPollLimiter(pools.longPolls);
  app.addHook("preClose", async () => longPolls.close());
  const encoder = new AnswerEncoder();
  const answers = new AnswerBuffers(pools, encoder, registry);
  app.addHook("onClose", async () => answers[Symbol.dispose]());
  requireRouteScopes(app);
  handleErrors(app, encoder, log, help);
  watchExchanges(app, record, options.tracing);
  // Hooks call `done` instead of returning a promise, which costs each request a microtask a hook.
  app.addHook("onRequest", (request, _reply, done) => {
    limits.countRequest(request);
    if (readTarget(request.originalUrl) === undefined) throw noTarget();
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") throw noHost();
    // Before the body of a request to an unknown path is read.
    if (request.is404) throw notFound();
    done();
  });
  connections.watch(app);
  const releaseBody = receiveBodies(app, routes, pools.bodies);
  const resources = { turns: new LoopTurns(), slots: pools.slots, longPolls, answers, releaseBody };
  mountRoutes(app, routes, options.deps, requestChecks(options), resources);
  const place = { host: options.host, port: options.port };
  await listen({ ...place, hostSetting: "HTTP_HOST", portSetting: "HTTP_PORT" }, () => app.listen({ ...place }));
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

function noTarget(): HttpError {
  return new HttpError("INVALID_QUERY", "the path of the URL cannot be decoded");
}

function noHost(): HttpError {
  return new HttpError("INVALID_PAYLOAD", "a Host header is needed", { headers: { connection: "close" } });
}
