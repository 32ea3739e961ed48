import type { FastifyInstance, FastifyRequest } from "fastify";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { SharedPool } from "../../limits/shared-pool.ts";
import { ReadTurns } from "./read-turns.ts";
import { readBody, tooLarge } from "./request-body.ts";
import type { BodyRule, Route } from "../route.ts";

/**
 * Memory of a piece of a body besides its bytes. A body of one-byte pieces takes a hundred times
 * its size.
 */
const pieceBytes = 256;

/** Of a route that takes no body but `{}`, which many clients send when they have nothing to send. */
const noBody: BodyRule = { types: [], bytesMax: "{}".length };

/** Returns a body's memory to the pool, when the body is not used any more. */
export type ReleaseBody = (request: FastifyRequest) => void;

/** A request's answer, and how much of the memory for bodies it holds. */
interface Receiving {
  readonly response: ServerResponse;
  bytes: number;
}

/** Reads bodies of any type as bytes; `acceptBody` has checked the type before. */
export function receiveBodies(
  app: FastifyInstance,
  routes: readonly Pick<Route<never>, "method" | "url" | "body">[],
  pool: Pick<SharedPool, "take" | "give">,
): ReleaseBody {
  const rules = new Map(routes.map((route) => [`${route.method} ${route.url}`, route.body]));
  const open = new WeakMap<FastifyRequest, Receiving>();
  const release = (request: FastifyRequest) => {
    request.body = undefined;
    const receiving = open.get(request);
    if (!receiving || receiving.bytes === 0) return;
    pool.give(tenantOf(request), receiving.bytes);
    receiving.bytes = 0;
  };
  const turns = new ReadTurns();
  invite(app.server);
  app.removeAllContentTypeParsers();
  app.addHook("onRequest", (request, reply, done) => {
    open.set(request, { response: reply.raw, bytes: 0 });
    reply.raw.once("close", () => release(request));
    done();
  });
  app.addContentTypeParser("*", (request: FastifyRequest, stream: IncomingMessage) => {
    const rule = rules.get(`${request.method} ${request.routeOptions.url}`) ?? noBody;
    const receiving = open.get(request);
    if (request.headers.expect) receiving?.response.writeContinue();
    const scan = rule.scan?.(request.bodyType);
    request.bodyScan = scan;
    const tenantId = tenantOf(request);
    const reading = readBody(stream, rule, (piece) => {
      const bytes = piece.length + pieceBytes;
      pool.take(tenantId, bytes);
      if (receiving) receiving.bytes += bytes;
      scan?.add(piece);
      turns.count(tenantId, stream, piece.length);
    });
    const taken = rule === noBody ? reading.then(requireEmpty) : reading;
    return taken.finally(() => turns.leave(tenantId, stream));
  });
  return release;
}

function requireEmpty(body: Buffer): void {
  if (!["", "{}"].includes(body.toString("latin1"))) throw tooLarge(noBody);
}

const tenantOf = ({ caller }: FastifyRequest): string => caller?.tenantId ?? "";

/**
 * Node would answer `Expect: 100-continue` at once, and any other expectation with a bare 417. Here
 * 100 is answered only when the request has passed its checks and its route reads the body.
 */
function invite(server: Server): void {
  const proceed = (request: IncomingMessage, response: ServerResponse) =>
    void server.emit("request", request, response);
  server.on("checkContinue", proceed);
  server.on("checkExpectation", proceed);
}
