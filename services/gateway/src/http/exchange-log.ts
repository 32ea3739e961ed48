import type { Logger } from "@vidimus/kit/log";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Histogram, type Registry } from "prom-client";
import { openExchange } from "./exchange.ts";
import { HttpError } from "./http-error.ts";
import type { WaitingRoom } from "./waiting-room.ts";

/** Requests that are being worked on at once; more are turned away while there is memory to do it politely. */
const inFlightMax = 2_048;

/**
 * Opens every exchange: its id, its place among those in flight, its one log line and its measurement. The line has never
 * a body, a query or a key; the prefix names the key.
 */
export function watchExchanges(app: FastifyInstance, log: Logger, registry: Registry, room: WaitingRoom): void {
  app.decorateRequest("caller", undefined);
  app.decorateRequest("bodyType", "");
  app.decorateRequest("traceparent", "");
  app.decorateRequest("startedAt", 0);
  app.decorateRequest("pausedAt", undefined);
  const seconds = new Histogram({
    name: "vidimus_http_handled_seconds",
    help: "Seconds a request to the public port took.",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  let inFlight = 0;
  app.addHook("onRequest", async (request, reply) => {
    openExchange(request, reply);
    inFlight += 1;
    // "close" comes once for every response, also for one that the client did not wait for.
    reply.raw.once("close", () => {
      inFlight -= 1;
      const { ms, ...line } = lineOf(request, reply);
      seconds.observe({ method: line.method, route: line.route, status: line.status }, ms / 1000);
      log.info({ ...line, ms: Math.round(ms * 10) / 10 }, "request");
    });
    if (inFlight - room.taken > inFlightMax) {
      throw new HttpError("UNAVAILABLE", "too many requests at once", { headers: { "retry-after": "1" } });
    }
  });
}

function lineOf(request: FastifyRequest, reply: FastifyReply) {
  const { caller, id: requestId, traceparent, method, routeOptions, startedAt, pausedAt } = request;
  const who = caller ? { tenant: caller.tenantId, keyPrefix: caller.prefix } : {};
  return {
    method,
    route: routeOptions.url ?? "",
    status: reply.raw.writableFinished ? reply.statusCode : 499,
    ms: (pausedAt ?? performance.now()) - startedAt,
    ...who,
    requestId,
    traceparent,
  };
}
