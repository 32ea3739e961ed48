import type { Logger } from "@vidimus/kit/telemetry/log";
import type { FastifyInstance } from "fastify";
import { Histogram, type Registry } from "prom-client";

declare module "fastify" {
  interface FastifyRequest {
    /** Whose session it is; undefined without one. */
    who: { readonly actor: string; readonly sessionId: string } | undefined;
  }
}

/** Writes one line for each request, and observes its duration. Never a query, a field or a cookie. */
export function logRequests(app: FastifyInstance, log: Logger, registry: Registry): void {
  const seconds = new Histogram({
    name: "vidimus_console_handled_seconds",
    help: "Seconds a request to the console took.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  app.decorateRequest("who", undefined);
  app.addHook("onResponse", (request, reply, done) => {
    const { method, id: requestId, who } = request;
    const line = { method, route: request.routeOptions.url ?? "", status: reply.statusCode };
    seconds.observe(line, reply.elapsedTime / 1000);
    log.info({ ...line, ms: Math.round(reply.elapsedTime * 10) / 10, requestId, ...who }, "request");
    done();
  });
}
