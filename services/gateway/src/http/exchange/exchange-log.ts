import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import { Histogram, type Registry } from "prom-client";
import { openExchange } from "./exchange.ts";
import type { ErrorCode } from "../../errors/http-error.ts";
import { endTrace } from "./exchange-span.ts";
import { loggedPath } from "./logged-path.ts";

/** What is logged of a request at its end: no body, no query, and of a key only its prefix. */
interface ExchangeLine {
  /** "" when no method could be read. */
  readonly method: string;
  /** The route's URL pattern; "" when no route matched. */
  readonly route: string;
  /** 499 when a request was read, but its connection ended before all of the answer was sent. */
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly traceparent?: string;
  readonly code?: ErrorCode;
  /** The path as sent, shortened and cleaned; only with NOT_FOUND. */
  readonly path?: string;
  readonly tenant?: string;
  readonly keyPrefix?: string;
}

/** Writes the single log line of a request, and observes its duration. */
export type RecordExchange = (line: ExchangeLine) => void;

export function recordExchanges(log: Logger, registry: Registry): RecordExchange {
  const seconds = new Histogram({
    name: "vidimus_http_handled_seconds",
    help: "Seconds a request to the public port took.",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return ({ ms, ...line }) => {
    seconds.observe({ method: line.method, route: line.route, status: line.status }, ms / 1000);
    log.info({ ...line, ms: Math.round(ms * 10) / 10 }, "request");
  };
}

/** Returns the step that sets up every request at its start, and records it at its end. */
export function watchExchanges(
  app: FastifyInstance,
  record: RecordExchange,
  tracing: Tracing | undefined,
): onRequestHookHandler {
  app.decorateRequest("caller", undefined);
  app.decorateRequest("bodyType", "");
  app.decorateRequest("bodyScan", undefined);
  app.decorateRequest("traceparent", "");
  app.decorateRequest("span", undefined);
  app.decorateRequest("startedAt", 0);
  app.decorateRequest("pausedAt", undefined);
  app.decorateRequest("errorCode", undefined);
  return (request, reply, done) => {
    openExchange(request, reply, tracing);
    // "close" is emitted once for every response, also when its client has left.
    reply.raw.once("close", () => {
      const line = lineOf(request, reply);
      endTrace(request, line);
      record(line);
    });
    done();
  };
}

function lineOf(request: FastifyRequest, reply: FastifyReply): ExchangeLine {
  const { caller, id: requestId, traceparent, method, routeOptions, startedAt, pausedAt, errorCode: code } = request;
  const who = caller ? { tenant: caller.tenantId, keyPrefix: caller.prefix } : {};
  return {
    method,
    route: routeOptions.url ?? "",
    status: reply.raw.writableFinished ? reply.statusCode : 499,
    ms: (pausedAt ?? performance.now()) - startedAt,
    ...(code ? { code } : {}),
    ...(code === "NOT_FOUND" ? { path: loggedPath(request.originalUrl) } : {}),
    ...who,
    requestId,
    traceparent,
  };
}
