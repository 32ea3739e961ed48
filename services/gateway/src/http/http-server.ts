import compress from "@fastify/compress";
import { withinDeadline } from "@vidimus/kit/deadline";
import type { Logger } from "@vidimus/kit/log";
import { portOf } from "@vidimus/kit/port";
import { uuidv7 } from "@vidimus/kit/uuid";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { METHODS } from "node:http";
import { constants } from "node:zlib";
import type { Registry } from "prom-client";
import type { Caller, KeyVerifier } from "../domain/key-verifier.ts";
import { refused } from "./answer.ts";
import { authenticate, authorise } from "./authenticate.ts";
import { answerBrokenRequest } from "./broken-request.ts";
import { toHttpError } from "./error-table.ts";
import { watchExchanges } from "./exchange-log.ts";
import { headersFor, sendAnswer } from "./exchange.ts";
import { HttpError } from "./http-error.ts";
import type { Limits } from "./limits.ts";
import { type Gates, mountRoutes, requireScopes } from "./mount-routes.ts";
import { urlFault } from "./query-error.ts";
import { receiveBodies } from "./receive-bodies.ts";
import { acceptBody } from "./request-body.ts";
import type { Route } from "./route.ts";
import { WaitingRoom } from "./waiting-room.ts";

/** How the public port runs. */
export interface HttpServerOptions<Deps> {
  host: string;
  /** 0 picks a free port. */
  port: number;
  routes: readonly Route<Deps>[];
  deps: Deps;
  verifier: Pick<KeyVerifier, "verify">;
  limits: Limits;
  /** Told of every request that a key opened. */
  onUse(caller: Caller): void;
  /** CIDR ranges whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  log: Logger;
  registry: Registry;
  /** How long running requests may go on after the stop; 10 s unless said. */
  drainMs?: number;
}

/** A listening public port. Disposing lets running requests finish, then cuts what is left. */
export interface HttpServer extends AsyncDisposable {
  readonly port: number;
}

/** Starts the public API. Rejects with a ConfigError when a `/v1` route declares no scope. */
export async function startHttpServer<Deps>(options: HttpServerOptions<Deps>): Promise<HttpServer> {
  const { routes, log, registry, limits, trustedProxies } = options;
  const app = createApp(log, trustedProxies);
  const room = new WaitingRoom();
  app.addHook("preClose", async () => room.close());
  requireScopes(app);
  handleFailures(app, log);
  watchExchanges(app, log, registry, room);
  app.addHook("onRequest", async (request) => {
    limits.countRequest(request);
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") throw noHost();
    // Before a body is read that nobody wants.
    if (request.is404) throw nothingHere();
  });
  receiveBodies(app, routes);
  await app.register(compress, {
    threshold: 1024,
    encodings: ["br", "gzip"],
    // The best of brotli costs a hundred times what it saves on an answer that is made anew each time, and its own
    // window of 4 MiB would be taken, several times over, for each answer under way.
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 } },
  });
  mountRoutes(app, routes, options.deps, { ...gatesOf(options), room });
  await app.listen({ host: options.host, port: options.port });
  const port = portOf(app.server.address());
  log.info({ port }, "public port open");
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = app.close();
      if (!(await withinDeadline(closed, options.drainMs ?? 10_000))) app.server.closeAllConnections();
      await closed;
    },
  };
}

function createApp(log: Logger, trustedProxies: readonly string[]): FastifyInstance {
  const app = fastify({
    logger: false,
    genReqId: uuidv7,
    requestIdHeader: false,
    return503OnClosing: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    // The framework would give HEAD a route that computes the body and drops it.
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 512 },
    // A client that neither sends nor takes a byte for so long is gone.
    connectionTimeout: 60_000,
    // The longest any route gives a body; routes have shorter limits of their own.
    requestTimeout: 60_000,
    // Node would answer a request without Host by itself, and not in the envelope.
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000, requireHostHeader: false },
    ajv: { customOptions: { ...asWritten, verbose: true, keywords: ["x-must", "x-described-as"] } },
    schemaErrorFormatter: (errors, part) => urlFault(errors, part),
    frameworkErrors: (error, request, reply) => {
      const answer = refused(toHttpError(error, request.method));
      void sendAnswer(request, reply.headers(headersFor(request.id)), answer);
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, log),
  });
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method) && method !== "CONNECT") app.addHttpMethod(method);
  }
  return app;
}

/** Input is judged as it was written: nothing is coerced, dropped or filled in. */
const asWritten = { coerceTypes: false, removeAdditional: false, useDefaults: false } as const;

function handleFailures(app: FastifyInstance, log: Logger): void {
  app.setErrorHandler((error, request, reply) => {
    const refusal = toHttpError(error, request.method);
    if (refusal.code === "INTERNAL") {
      log.error({ requestId: request.id, err: refusal.cause ?? error }, "request failed");
    }
    startOver(reply);
    return sendAnswer(request, reply, refused(refusal));
  });
  app.setNotFoundHandler(() => {
    throw nothingHere();
  });
}

/** Takes back what was set for an answer that broke before its first byte. */
function startOver(reply: FastifyReply): void {
  // The framework would cut off a client that is still sending a body, which then often misses the answer. What is left
  // of the body is let through unread, for as long as `requestTimeout` lets it.
  void reply.removeHeader("connection");
  for (const name of ["content-encoding", "content-disposition", "etag"]) {
    void reply.removeHeader(name);
    reply.raw.removeHeader(name);
  }
}

function nothingHere(): HttpError {
  return new HttpError("NOT_FOUND", "there is nothing at this path");
}

function noHost(): HttpError {
  return new HttpError("INVALID_PAYLOAD", "a Host header is needed", { headers: { connection: "close" } });
}

function gatesOf(options: Pick<HttpServerOptions<never>, "verifier" | "onUse" | "limits">): Omit<Gates, "room"> {
  const { verifier, onUse, limits } = options;
  async function callerOf(request: FastifyRequest): Promise<Caller> {
    try {
      return await authenticate(request.raw, verifier);
    } catch (error) {
      // The key was looked at all the same: a valid one passes however many wrong ones came from its address.
      if (error instanceof HttpError && error.code === "UNAUTHORIZED") limits.countAuthFailure(request);
      throw error;
    }
  }
  return {
    admit: async (request, { scope }) => {
      request.caller = await callerOf(request);
      onUse(request.caller);
      if (scope !== "open") authorise(request.caller, scope);
    },
    charge: async (request, reply) => {
      if (request.caller) await limits.chargeWrite(request.caller.tenantId, reply);
    },
    accept: (request, { body }) => {
      if (body) request.bodyType = acceptBody(request.headers, body);
    },
  };
}
