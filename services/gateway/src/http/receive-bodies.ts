import type { FastifyInstance, FastifyRequest } from "fastify";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { BodyMemory, readBody } from "./request-body.ts";
import type { BodyRule, Route } from "./route.ts";

/** All bodies that are being received or worked on, together. */
const bytesInHandMax = 64 * 1024 * 1024;

const noBody: BodyRule = { types: [], bytesMax: 0 };

/** A request's answer, and how much of the memory for bodies it holds. */
interface Receiving {
  readonly response: ServerResponse;
  bytes: number;
}

/** Reads bodies as bytes, whatever their type: a route's gate has accepted it before. */
export function receiveBodies(
  app: FastifyInstance,
  routes: readonly Pick<Route<never>, "method" | "url" | "body">[],
): void {
  const memory = new BodyMemory(bytesInHandMax);
  const rules = new Map(routes.map((route) => [`${route.method} ${route.url}`, route.body]));
  const open = new WeakMap<FastifyRequest, Receiving>();
  invite(app.server);
  app.removeAllContentTypeParsers();
  app.addHook("onRequest", async (request, reply) => {
    const receiving = { response: reply.raw, bytes: 0 };
    open.set(request, receiving);
    reply.raw.once("close", () => memory.give(receiving.bytes));
  });
  app.addContentTypeParser("*", (request: FastifyRequest, stream: IncomingMessage) => {
    const rule = rules.get(`${request.method} ${request.routeOptions.url}`) ?? noBody;
    const receiving = open.get(request);
    if (request.headers.expect) receiving?.response.writeContinue();
    return readBody(stream, rule, (bytes) => {
      if (!receiving || !memory.take(bytes)) return false;
      receiving.bytes += bytes;
      return true;
    });
  });
}

/**
 * Node would answer `Expect: 100-continue` at once, and any other expectation with a bare 417. Here a client is asked for
 * its body when a route wants it, and not before it was let in.
 */
function invite(server: Server): void {
  const proceed = (request: IncomingMessage, response: ServerResponse) =>
    void server.emit("request", request, response);
  server.on("checkContinue", proceed);
  server.on("checkExpectation", proceed);
}
