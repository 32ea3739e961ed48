import { uuidv7 } from "@vidimus/kit/ids";
import { rawAnswer } from "@vidimus/kit/raw-answer";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { FastifyInstance } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type ErrorPage, requestUnreadable } from "./error-handler.ts";
import { securityHeaders } from "./security-headers.ts";

const refusals: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time."],
  HPE_HEADER_OVERFLOW: [431, "The address and the cookies of this request are too long."],
};

/** Time in which an answer may reach a client before its connection is cut. */
const cutAfterMs = 1_000;

/**
 * Handles bytes that Node's parser refuses, and heads that do not arrive in time: answers with a
 * page, logs, and closes the connection. The framework does not see these. While a request of the
 * connection is read or answered, the connection is only cut, because a page would mix with the
 * framework's answer.
 */
export function unreadableRequests(origin: URL, log: Logger, errorPage: ErrorPage) {
  const last = new WeakMap<Socket, ServerResponse>();
  const isRunning = (socket: Socket) => {
    const response = last.get(socket);
    return response !== undefined && !(response.writableFinished && response.req.complete);
  };

  function refuse({ code = "" }: { readonly code?: string }, socket: Socket): void {
    if (code === "ECONNRESET" || !socket.writable || isRunning(socket)) return void socket.destroy();
    const requestId = uuidv7();
    const { title, detail: unreadable } = requestUnreadable;
    const [status, detail] = refusals[code] ?? [400, unreadable];
    log.info({ method: "", route: "", status, ms: 0, requestId }, "request");
    const page = errorPage({ title, detail }, { id: requestId, person: undefined, url: "" }).toString();
    const headers = { ...securityHeaders(origin), "content-type": "text/html; charset=utf-8" };
    // Until the connection is cut, its client can send more. Without the pause, a request whose
    // head is completed now would still be handled.
    socket.pause();
    socket.end(rawAnswer(status, headers, page));
    setTimeout(() => socket.destroy(), cutAfterMs).unref();
  }

  /** Notes the last request of each connection, whose answer `refuse` must not disturb. */
  function watch({ server }: FastifyInstance): void {
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      last.set(socket, response);
    });
  }

  return { refuse, watch };
}
