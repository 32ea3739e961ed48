import { ConfigError } from "@vidimus/kit/env";
import { contextHeaders } from "@vidimus/kit/rpc/call-context";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { METHODS } from "node:http";
import { HttpError } from "./http-error.ts";
import { nobody, sendAnswer } from "./exchange.ts";
import type { Call, Handler, Route } from "./route.ts";
import type { WaitingRoom } from "./waiting-room.ts";

/** What a request passes before its handler, in this order; each throws what it refuses. */
export interface Gates {
  /** 401 and 403. */
  admit(request: FastifyRequest, route: Route<never>): Promise<void>;
  /** 429 of the write budget. */
  charge(request: FastifyRequest, reply: FastifyReply, route: Route<never>): Promise<void>;
  /** 415 and an announced 413. */
  accept(request: FastifyRequest, route: Route<never>): void;
  /** Not a gate but a room beside the way: `Call.wait`. */
  readonly room: Pick<WaitingRoom, "wait">;
}

const emptyBody = Buffer.alloc(0);
const rpcTimeoutMs = 10_000;

/** Refuses to start with a `/v1` route that anybody could call. */
export function requireScopes(app: FastifyInstance): void {
  app.addHook("onRoute", ({ url, method, config }) => {
    if (!/^\/v1(?:\/|$)/i.test(url)) return;
    const scope = config?.scope;
    if (scope === undefined || scope === "open") {
      throw new ConfigError(`route ${String(method)} ${url} declares no scope`);
    }
  });
}

/** Makes the routes answer, GET to HEAD as well, and every other method 405 or, for OPTIONS, 204 with what is allowed. */
export function mountRoutes<Deps>(
  app: FastifyInstance,
  routes: readonly Route<Deps>[],
  deps: Deps,
  gates: Gates,
): void {
  for (const route of routes) mount(app, route, route.handler(deps), gates);
  for (const [url, ofUrl] of Map.groupBy(routes, ({ url }) => url)) {
    const allowed = ofUrl.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    mountOthers(app, url, [...allowed, "OPTIONS"], ofUrl[0]?.scope ?? "open");
  }
}

function mount<Deps>(app: FastifyInstance, route: Route<Deps>, handler: Handler, gates: Gates): void {
  const { method, url, scope, query, params } = route;
  app.route({
    method: method === "GET" ? ["GET", "HEAD"] : method,
    url,
    config: { scope },
    schema: { querystring: query ?? nothing, ...(params ? { params } : {}) },
    onRequest: async (request, reply) => {
      if (scope !== "open") await gates.admit(request, route);
      if (method !== "GET") await gates.charge(request, reply, route);
      gates.accept(request, route);
    },
    handler: async (request, reply) => sendAnswer(request, reply, await handler(callOf(request, reply, gates))),
  });
}

const nothing: TSchema = { type: "object", additionalProperties: false };

function callOf(request: FastifyRequest, reply: FastifyReply, { room }: Gates): Call {
  const { headers, caller = nobody, bodyType: mediaType, traceparent } = request;
  const actor = caller === nobody ? "" : `key:${caller.prefix}`;
  return {
    caller,
    query: request.query,
    params: request.params,
    body: request.body instanceof Buffer ? request.body : emptyBody,
    mediaType,
    header: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    rpc: {
      headers: contextHeaders({ requestId: request.id, traceparent, actor, role: "integrator" }),
      timeoutMs: rpcTimeoutMs,
    },
    wait: (work) => room.wait(request, reply, work),
  };
}

function mountOthers(app: FastifyInstance, url: string, allowed: readonly string[], scope: string): void {
  const known = new Set<string>(app.supportedMethods);
  const others = METHODS.filter((method) => known.has(method) && (method === "OPTIONS" || !allowed.includes(method)));
  const allow = allowed.join(", ");
  app.route({
    method: others,
    url,
    config: { scope },
    onRequest: async (request, reply) => {
      void reply.header("allow", allow);
      if (request.method === "OPTIONS") return sendAnswer(request, reply, preflight(url, allow));
      throw new HttpError("METHOD_NOT_ALLOWED", `${request.method} is not allowed here; allowed: ${allow}`);
    },
    handler: () => undefined,
  });
}

/** Browsers may read the trust list from anywhere; API keys do not belong in browsers. */
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
