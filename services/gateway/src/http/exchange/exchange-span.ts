import { parseTraceparent, readTraceparent } from "@vidimus/kit/rpc/call-context";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { FastifyRequest } from "fastify";

/** What a span says of a request when it has ended. */
interface EndedExchange {
  /** 499 when the client left before the answer. */
  readonly status: number;
}

/**
 * Sets the trace of a new request: the client's, or a new one. While tracing is on the request's span
 * is the client's child. A client that names a trace is believed, so that it finds its own requests
 * again; whether they are recorded is not for it to decide.
 */
export function openTrace(request: FastifyRequest, tracing: Tracing | undefined): void {
  const { traceparent } = request.headers;
  const given = typeof traceparent === "string" ? traceparent : undefined;
  if (!tracing) {
    request.traceparent = readTraceparent(given);
    return;
  }
  const { method, routeOptions } = request;
  const name = routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`;
  request.span = tracing.start({ name, kind: "server", parent: parseTraceparent(given), isEdge: true });
  request.traceparent = request.span.traceparent;
}

/**
 * Ends the span of a request. It has the route and not the path, which may hold anything that a client
 * typed; answers of 500 and above are failures.
 */
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
