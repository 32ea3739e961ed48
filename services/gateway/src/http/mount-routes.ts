import { ConfigError } from "@vidimus/kit/env";
import { contextHeaders } from "@vidimus/kit/rpc/context/call-context";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { METHODS, type ServerResponse } from "node:http";
import { actorOf } from "../access/acting.ts";
import { sendAnswer } from "./answers/send-answer.ts";
import { noCaller } from "./exchange/exchange.ts";
import { HttpError } from "../errors/http-error.ts";
import type { LongPollLimiter } from "../pools/long-poll-limiter.ts";
import type { RequestChecks } from "./request-checks.ts";
import { type HandlerResources, orderOtherMethod, orderRouteSteps, type RunHandler } from "./request-order.ts";
import type { Call, Handler, Route } from "./route.ts";

export interface SharedResources extends HandlerResources {
  readonly longPolls: Pick<LongPollLimiter, "run">;
}

const emptyBody = Buffer.alloc(0);
const rpcTimeoutMs = 10_000;

/** Makes the app throw a ConfigError when a `/v1` route is mounted without a scope. */
export function requireRouteScopes(app: FastifyInstance): void {
  app.addHook("onRoute", ({ url, method, config }) => {
    if (!/^\/v1(?:\/|$)/i.test(url)) return;
    const scope = config?.scope;
    if (scope === undefined || scope === "open") {
      throw new ConfigError(`route ${String(method)} ${url} declares no scope`);
    }
  });
}

/**
 * GET routes answer HEAD, too. On the paths of the routes, OPTIONS answers 204 with the allowed
 * methods, and every method without a route 405.
 */
export function mountRoutes<Deps>(
  app: FastifyInstance,
  routes: readonly Route<Deps>[],
  deps: Deps,
  checks: RequestChecks,
  resources: SharedResources,
): void {
  for (const route of routes) {
    const run = runHandler(route.handler(deps), resources);
    mount(app, route, orderRouteSteps(route, checks, run, resources));
  }
  for (const [url, ofUrl] of Map.groupBy(routes, ({ url }) => url)) {
    const allowed = ofUrl.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    mountOthers(app, url, [...allowed, "OPTIONS"], ofUrl[0]?.scope ?? "open");
  }
}

function mount(app: FastifyInstance, route: Route<never>, steps: ReturnType<typeof orderRouteSteps>): void {
  const { method, url, scope, query, params } = route;
  app.route({
    method: method === "GET" ? ["GET", "HEAD"] : method,
    url,
    config: { scope },
    schema: { querystring: query ?? nothing, ...(params ? { params } : {}) },
    ...steps,
  });
}

function runHandler(handler: Handler, { longPolls }: Pick<SharedResources, "longPolls">): RunHandler {
  return (request, reply, releaseSlot) => {
    const longPoll: Call["longPoll"] = (poll) => longPolls.run({ request, reply, releaseSlot }, poll);
    return handler({ ...callOf(request, reply), longPoll });
  };
}

const nothing: TSchema = { type: "object", additionalProperties: false };

function callOf(request: FastifyRequest, reply: FastifyReply): Omit<Call, "longPoll"> {
  const { headers, caller = noCaller, bodyType: mediaType, bodyScan, traceparent } = request;
  return {
    caller,
    query: request.query,
    params: request.params,
    body: request.body instanceof Buffer ? request.body : emptyBody,
    bodyRows: bodyScan?.rows ?? 0,
    mediaType,
    header: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    rpc: {
      headers: contextHeaders({ requestId: request.id, traceparent, ...actorOf(caller), ...originOf(request) }),
      timeoutMs: rpcTimeoutMs,
    },
    gone: () => goneSignal(reply.raw),
  };
}

/** The origin of a change, for audit logs. Reads make no audit entry. */
function originOf({ method, ip }: FastifyRequest): { from?: string } {
  return method === "GET" || method === "HEAD" ? {} : { from: ip };
}

function goneSignal(response: ServerResponse): AbortSignal {
  if (response.closed) return AbortSignal.abort();
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return gone.signal;
}

function mountOthers(app: FastifyInstance, url: string, allowed: readonly string[], scope: string): void {
  const known = new Set<string>(app.supportedMethods);
  const others = METHODS.filter((method) => known.has(method) && (method === "OPTIONS" || !allowed.includes(method)));
  const allow = allowed.join(", ");
  app.route({
    method: others,
    url,
    config: { scope },
    ...orderOtherMethod(async (request, reply) => {
      void reply.header("allow", allow);
      if (request.method === "OPTIONS") return sendAnswer(request, reply, preflight(url, allow));
      throw new HttpError("METHOD_NOT_ALLOWED", `${request.method} is not allowed here; allowed: ${allow}`);
    }),
  });
}

/**
 * CORS is allowed only for the trust list under /api. /v1 needs an API key, which a page of another
 * origin would disclose to its visitors.
 */
function preflight(url: string, allow: string) {
  const cors = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": allow,
    "access-control-max-age": "86400",
  };
  return {
    status: 204,
    headers: { "cache-control": "no-store", ...(url.startsWith("/api/") ? cors : {}) },
    body: undefined,
  };
}
