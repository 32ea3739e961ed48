import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from "fastify";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { SharedPool } from "../../pools/shared-pool.ts";
import { ReadTurns } from "@vidimus/kit/fair/read-turns";
import { readBody, tooLarge } from "./request-body.ts";
import type { BodyRule, Route } from "../route.ts";

/**
 * Counted for each piece of a body besides its bytes, because a body that arrives in pieces of one
 * byte takes more than a hundred times its size.
 */
const pieceBytes = 256;

/**
 * Rule of routes without a body. They accept `{}`, which many clients send when they have nothing
 * to send.
 */
const noBody: BodyRule = { types: [], bytesMax: "{}".length };

/** Drops a body that is no longer used, and releases its memory. A repeated call does nothing. */
export type ReleaseBody = (request: FastifyRequest) => void;

interface Receiving {
  readonly response: ServerResponse;
  /** Held of the pool, `pieceBytes` included. */
  bytes: number;
}

/** The two steps between which a request's body holds memory of the pool. */
interface ReceivedBodies {
  /** Makes sure that the memory which a body takes is released when the exchange ends. */
  readonly expect: onRequestHookHandler;
  readonly release: ReleaseBody;
}

/** Reads bodies of any type as bytes; `acceptBody` has checked those of routes with a rule. */
export function receiveBodies(
  app: FastifyInstance,
  routes: readonly Pick<Route<never>, "method" | "url" | "body">[],
  pool: Pick<SharedPool, "take" | "give">,
): ReceivedBodies {
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
  const expect: onRequestHookHandler = (request, reply, done) => {
    open.set(request, { response: reply.raw, bytes: 0 });
    reply.raw.once("close", () => release(request));
    done();
  };
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
  return { expect, release };
}

function requireEmpty(body: Buffer): void {
  if (!["", "{}"].includes(body.toString("latin1"))) throw tooLarge(noBody);
}

const tenantOf = ({ caller }: FastifyRequest): string => caller?.tenantId ?? "";

/**
 * Node would answer `Expect: 100-continue` at once, and other expectations with a 417 without
 * envelope. Here 100 is sent only when the request has passed its checks and its route reads the
 * body.
 */
function invite(server: Server): void {
  const proceed = (request: IncomingMessage, response: ServerResponse) =>
    void server.emit("request", request, response);
  server.on("checkContinue", proceed);
  server.on("checkExpectation", proceed);
}
