import { withinDeadline } from "@vidimus/kit/deadline";
import type { Logger } from "@vidimus/kit/log";
import { portOf } from "@vidimus/kit/port";
import { uuidv7 } from "@vidimus/kit/uuid";
import { fastify, type FastifyInstance, type FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import { METHODS } from "node:http";
import type { Caller, KeyVerifier } from "../domain/key-verifier.ts";
import { refused } from "./answer.ts";
import { authenticate, authorise } from "./authenticate.ts";
import { answerBrokenRequest } from "./broken-request.ts";
import { toHttpError } from "./error-table.ts";
import { headersFor, openExchange, sendAnswer } from "./exchange.ts";
import { HttpError } from "./http-error.ts";
import { type Gates, mountRoutes, requireScopes } from "./mount-routes.ts";
import { urlFault } from "./query-error.ts";
import { acceptBody, BodyMemory, readBody } from "./request-body.ts";
import type { BodyRule, Route } from "./route.ts";

/** How the public port runs. */
export interface HttpServerOptions<Deps> {
  host: string;
  /** 0 picks a free port. */
  port: number;
  routes: readonly Route<Deps>[];
  deps: Deps;
  verifier: Pick<KeyVerifier, "verify">;
  /** Told of every request that a key opened. */
  onUse(caller: Caller): void;
  log: Logger;
  /** How long running requests may go on after the stop; 10 s unless said. */
  drainMs?: number;
}

/** A listening public port. Disposing lets running requests finish, then cuts what is left. */
export interface HttpServer extends AsyncDisposable {
  readonly port: number;
}

/** All bodies that are being received or worked on, together. */
const bodyBytesInHandMax = 64 * 1024 * 1024;

/** Starts the public API. */
export async function startHttpServer<Deps>(options: HttpServerOptions<Deps>): Promise<HttpServer> {
  const app = createApp(options.log);
  requireScopes(app);
  handleFailures(app, options.log);
  observe(app, options.log);
  readBodies(app, options.routes);
  mountRoutes(app, options.routes, options.deps, gatesOf(options));
  await app.listen({ host: options.host, port: options.port });
  return {
    port: portOf(app.server.address()),
    async [Symbol.asyncDispose]() {
      const closed = app.close();
      if (!(await withinDeadline(closed, options.drainMs ?? 10_000))) app.server.closeAllConnections();
      await closed;
    },
  };
}

function createApp(log: Logger): FastifyInstance {
  const app = fastify({
    logger: false,
    genReqId: uuidv7,
    requestIdHeader: false,
    return503OnClosing: false,
    // The framework would give HEAD a route that computes the body and drops it.
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 512 },
    connectionTimeout: 60_000,
    // The longest any route gives a body; routes have shorter limits of their own.
    requestTimeout: 60_000,
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        verbose: true,
        keywords: ["x-must", "x-described-as"],
      },
    },
    schemaErrorFormatter: (errors, part) => urlFault(errors, part),
    frameworkErrors: (error, request, reply) => {
      const answer = refused(toHttpError(error, request.method));
      void sendAnswer(request, reply.headers(headersFor(request.id)), answer);
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, log),
  });
  for (const method of METHODS)
    if (!app.supportedMethods.includes(method) && method !== "CONNECT") app.addHttpMethod(method);
  return app;
}

function handleFailures(app: FastifyInstance, log: Logger): void {
  app.setErrorHandler((error, request, reply) => {
    const refusal = toHttpError(error, request.method);
    if (refusal.code === "INTERNAL")
      log.error({ requestId: request.id, err: refusal.cause ?? error }, "request failed");
    return sendAnswer(request, reply, refused(refusal));
  });
  app.setNotFoundHandler(() => {
    throw new HttpError("NOT_FOUND", "there is nothing at this path");
  });
}

/** One line a request. Never a body, a query or a key: the prefix names the key. */
function observe(app: FastifyInstance, log: Logger): void {
  app.decorateRequest("caller", undefined);
  app.decorateRequest("bodyType", "");
  app.decorateRequest("traceparent", "");
  app.decorateRequest("startedAt", 0);
  app.addHook("onRequest", async (request, reply) => {
    openExchange(request, reply);
    // Before a body is read that nobody wants.
    if (request.is404) throw new HttpError("NOT_FOUND", "there is nothing at this path");
  });
  app.addHook("onResponse", async (request, reply) => {
    const { caller, id: requestId, traceparent, method, routeOptions } = request;
    const ms = Math.round((performance.now() - request.startedAt) * 10) / 10;
    const who = caller ? { tenant: caller.tenantId, keyPrefix: caller.prefix } : {};
    log.info(
      { method, route: routeOptions.url ?? "", status: reply.statusCode, ms, ...who, requestId, traceparent },
      "request",
    );
  });
}

/** Bodies are read as bytes, whatever their type: a route's gate has accepted it before. */
function readBodies<Deps>(app: FastifyInstance, routes: readonly Route<Deps>[]): void {
  const memory = new BodyMemory(bodyBytesInHandMax);
  const held = new WeakMap<FastifyRequest, number>();
  const rules = new Map(routes.map((route) => [`${route.method} ${route.url}`, route.body]));
  const noBody: BodyRule = { types: [], bytesMax: 0 };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (request: FastifyRequest, stream: IncomingMessage) => {
    const rule = rules.get(`${request.method} ${request.routeOptions.url}`) ?? noBody;
    return readBody(stream, rule, (bytes) => {
      const taken = memory.take(bytes);
      if (taken) held.set(request, (held.get(request) ?? 0) + bytes);
      return taken;
    });
  });
  const give = async (request: FastifyRequest) => {
    memory.give(held.get(request) ?? 0);
    held.delete(request);
  };
  app.addHook("onResponse", give);
  app.addHook("onRequestAbort", give);
}

function gatesOf({ verifier, onUse }: Pick<HttpServerOptions<never>, "verifier" | "onUse">): Gates {
  return {
    admit: async (request, { scope }) => {
      request.caller = await authenticate(request.raw, verifier);
      onUse(request.caller);
      if (scope !== "open") authorise(request.caller, scope);
    },
    charge: async () => {},
    accept: (request, { body }) => {
      if (body) request.bodyType = acceptBody(request.headers, body);
    },
  };
}
