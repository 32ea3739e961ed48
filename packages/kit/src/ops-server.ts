import { fastify } from "fastify";
import { portOf } from "./port.ts";
import type { Metrics } from "./metrics.ts";
import type { Readiness } from "./readiness.ts";

/** How the ops port runs. */
export interface OpsServerOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  readiness: Readiness;
  metrics: Metrics;
  /** Rejects while the process cannot do its work; asked on every `/readyz`. */
  check: () => Promise<void>;
  /** Further pages by path; more may be added while it runs. */
  pages: ReadonlyMap<string, OpsPage>;
}

/** A page that a service puts on its ops port. */
export interface OpsPage {
  /** Its content type. */
  readonly type: string;
  readonly body: string;
}

/** A listening ops port. */
export interface OpsServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * `/livez`, `/readyz` and `/metrics` on plaintext HTTP/1.1, a port of their own because probes carry no client
 * certificate. Live means the event loop turns; ready means the dependencies answer and no stop has begun.
 */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const { readiness, metrics, check, pages } = options;
  const app = fastify({ logger: false, forceCloseConnections: true });
  app.get("/livez", () => ({ ok: true }));
  app.get("/readyz", async (_request, reply) => {
    const fault = await check().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    readiness.setFailing(fault !== undefined);
    if (readiness.isReady()) return { ok: true };
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
  await app.listen({ host: options.host, port: options.port });
  return {
    port: portOf(app.server.address()),
    [Symbol.asyncDispose]: () => app.close(),
  };
}
