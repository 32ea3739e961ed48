import { fastify } from "fastify";
import { listen } from "../listen.ts";
import { portOf } from "../port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Readiness } from "../readiness.ts";

interface OpsServerOptions {
  host: string;
  /** 0 chooses a free port. */
  port: number;
  readiness: Readiness;
  metrics: Metrics;
  /** Rejects while the process cannot work. Called on every `/readyz`. */
  check: () => Promise<void>;
  /** Rejects while the process works but lacks something. Called on every `/readyz`. */
  checkDegraded: () => Promise<void>;
  /** Further pages, from path to page. Pages may be added while the server runs. */
  pages: ReadonlyMap<string, OpsPage>;
}

/** A page that a service adds to its ops port. */
export interface OpsPage {
  /** Content type. */
  readonly type: string;
  readonly body: string;
}

interface OpsServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Serves `/livez`, `/readyz` and `/metrics` over plaintext HTTP/1.1, on a port of their own because
 * probes have no client certificate.
 *
 * `/livez` answers 200 while the event loop runs. `/readyz` answers 200 while the dependencies
 * answer and no stop has begun, else 503. While `checkDegraded` rejects, `/readyz` stays 200 and
 * adds `degraded` with the reason: a 503 would remove all replicas from the load balancer because
 * of a fault that only causes delay.
 */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const { readiness, metrics, check, checkDegraded, pages } = options;
  const app = fastify({ logger: false, forceCloseConnections: true });
  app.get("/livez", () => ({ ok: true }));
  app.get("/readyz", async (_request, reply) => {
    const [fault, degraded] = await Promise.all([faultOf(check()), faultOf(checkDegraded())]);
    readiness.setFailing(fault !== undefined);
    if (readiness.isReady()) return { ok: true, ...(degraded !== undefined && { degraded }) };
    return reply.code(503).send({ ok: false, reason: fault ?? "shutting down" });
  });
  app.get("/metrics", async (_request, reply) => {
    void reply.type(metrics.registry.contentType);
    return metrics.registry.metrics();
  });
  app.setNotFoundHandler((request, reply) => {
    const page = pages.get(request.url);
    if (page) return reply.type(page.type).send(page.body);
    return reply.code(404).send({ ok: false, reason: "no such page" });
  });
  const { host, port } = options;
  await listen({ host, port, hostSetting: "HOST", portSetting: "OPS_PORT" }, () => app.listen({ host, port }));
  return {
    port: portOf(app.server.address()),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

function faultOf(step: Promise<void>): Promise<string | undefined> {
  return step.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}
