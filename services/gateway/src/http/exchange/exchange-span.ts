import { parseTraceparent, readTraceparent } from "@vidimus/kit/rpc/context/call-context";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { FastifyRequest } from "fastify";

interface EndedExchange {
  readonly status: number;
}

/**
 * Sets the trace of a new request: the client's, so that the client can find its own requests, else
 * a new one. The client does not decide whether the trace is recorded: the sampler does, and while
 * tracing is off, the trace is passed on as one that is not recorded.
 */
export function openTrace(request: FastifyRequest, tracing: Tracing | undefined): void {
  const { traceparent } = request.headers;
  const given = typeof traceparent === "string" ? traceparent : undefined;
  if (!tracing) {
    request.traceparent = readTraceparent(given).replace(/-..$/, "-00");
    return;
  }
  const { method, routeOptions } = request;
  const name = routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`;
  request.span = tracing.start({ name, kind: "server", parent: parseTraceparent(given), isEdge: true });
  request.traceparent = request.span.traceparent;
}

/** The span names the route, not the path: a path may contain anything that a client typed. */
export function endTrace({ span, method, routeOptions, id, caller }: FastifyRequest, { status }: EndedExchange): void {
  span?.end(
    {
      "http.request.method": method,
      "http.route": routeOptions.url,
      "http.response.status_code": status,
      "vidimus.request.id": id,
      "vidimus.tenant.id": caller?.tenantId,
    },
    status >= 500 ? String(status) : undefined,
  );
}
