import type { Logger } from "@vidimus/kit/telemetry/log";
import type { FastifyInstance } from "fastify";
import type { Person } from "./route.ts";
import type { RoundCounter } from "../rpc/rounds.ts";
import { Histogram, type Registry } from "prom-client";

declare module "fastify" {
  interface FastifyRequest {
    /** Undefined without a session, and until the route has read the session. */
    person: Person | undefined;
    /** Rounds of calls to services; undefined when the request came to no page. */
    rounds: RoundCounter | undefined;
  }
}

/**
 * Writes one log line for each request that got its answer, without its query, fields and cookies,
 * and observes its duration and its rounds of calls.
 */
export function logRequests(app: FastifyInstance, log: Logger, registry: Registry): void {
  const seconds = new Histogram({
    name: "vidimus_console_handled_seconds",
    help: "Seconds a request to the console took.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  const rounds = new Histogram({
    name: "vidimus_console_rpc_rounds",
    help: "Rounds of calls to services that a request took; calls at the same time are one round.",
    labelNames: ["method", "route"],
    buckets: [0, 1, 2, 3, 4],
    registers: [registry],
  });
  app.decorateRequest("person", undefined);
  app.decorateRequest("rounds", undefined);
  app.addHook("onResponse", (request, reply, done) => {
    const { method, id: requestId, person } = request;
    const who = person && { actor: person.memberId, sessionId: person.session.sessionId };
    const line = { method, route: request.routeOptions.url ?? "", status: reply.statusCode };
    seconds.observe(line, reply.elapsedTime / 1000);
    if (request.rounds) rounds.observe({ method, route: line.route }, request.rounds.rounds);
    log.info({ ...line, ms: Math.round(reply.elapsedTime * 10) / 10, requestId, ...who }, "request");
    done();
  });
}
