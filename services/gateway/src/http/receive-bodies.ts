import type { FastifyInstance, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import { BodyMemory, readBody } from "./request-body.ts";
import type { BodyRule, Route } from "./route.ts";

/** All bodies that are being received or worked on, together. */
const bytesInHandMax = 64 * 1024 * 1024;

const noBody: BodyRule = { types: [], bytesMax: 0 };

/** Reads bodies as bytes, whatever their type: a route's gate has accepted it before. */
export function receiveBodies(
  app: FastifyInstance,
  routes: readonly Pick<Route<never>, "method" | "url" | "body">[],
): void {
  const memory = new BodyMemory(bytesInHandMax);
  const rules = new Map(routes.map((route) => [`${route.method} ${route.url}`, route.body]));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (request: FastifyRequest, stream: IncomingMessage) => {
    const rule = rules.get(`${request.method} ${request.routeOptions.url}`) ?? noBody;
    return readBody(stream, rule, (bytes) => {
      const taken = memory.take(bytes);
      if (taken) onClose.set(request, (onClose.get(request) ?? 0) + bytes);
      return taken;
    });
  });
  const onClose = new WeakMap<FastifyRequest, number>();
  app.addHook("onRequest", async (request, reply) => {
    reply.raw.once("close", () => memory.give(onClose.get(request) ?? 0));
  });
}
