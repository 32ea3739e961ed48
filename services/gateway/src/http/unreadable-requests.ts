import { uuidv7 } from "@vidimus/kit/ids";
import { rawAnswer } from "@vidimus/kit/raw-answer";
import type { FastifyInstance, onRequestHookHandler, preParsingHookHandler } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { refused } from "./answers/answer.ts";
import { headersFor } from "./exchange/exchange.ts";
import type { RecordExchange } from "./exchange/exchange-log.ts";
import { closeAfter, type OpenConnections } from "./open-connections.ts";
import { HttpError, statusOf } from "../errors/http-error.ts";
import type { RateLimits } from "../rates/rate-limits.ts";

interface UnreadableRequestsDeps {
  readonly connections: Pick<OpenConnections, "lastOf" | "runningOf">;
  readonly limits: Pick<RateLimits, "countRequest">;
  readonly record: RecordExchange;
  /** URL or path of the page that explains error codes. */
  readonly help: string | undefined;
}

/**
 * Answers CONNECT, and what Node's parser refuses on the public port. Only a request with a fault
 * in its body reaches the framework, where the two hooks or the body's reader refuse it.
 */
export class UnreadableRequests {
  readonly #deps: UnreadableRequestsDeps;
  /** Requests whose body cannot be read completely, with the error to answer. */
  readonly #broken = new WeakMap<IncomingMessage, HttpError>();

  constructor(deps: UnreadableRequestsDeps) {
    this.#deps = deps;
  }

  /** Answers CONNECT, for which Node would only close the connection. */
  refuseTunnels(app: FastifyInstance): void {
    app.server.on("connect", (_: IncomingMessage, socket: Socket) => {
      socket.on("error", () => socket.destroy());
      this.#refuseUnread(socket, "CONNECT", noTunnel());
    });
  }

  // Waits for a microtask, because the parser reads on in the turn in which the hooks begin:
  // without the wait, a request with broken bytes right after its head could be answered 401 or 200
  // before the parser finds them.
  readonly awaitParser: onRequestHookHandler = ({ raw }, _reply, done) =>
    queueMicrotask(() => done(this.#broken.get(raw)));

  readonly refuseBroken: preParsingHookHandler = ({ raw }, _reply, _payload, done) => done(this.#broken.get(raw));

  /**
   * Answers what Node's parser refused or timed out, and closes the connection. A fault in a body
   * belongs to its request, which is answered and recorded normally.
   */
  refuse(error: Error & { code?: string }, socket: Socket): void {
    const last = this.#deps.connections.lastOf(socket);
    if (error.code === "ECONNRESET" || socket.destroyed) socket.destroy();
    else if (last && !last.req.complete) this.#breakBody(error, last, socket);
    else this.#refuseUnread(socket, "", parserRefusal(error.code));
  }

  /** Passes the error to the reader of the body, or keeps it for a hook while nothing reads. */
  #breakBody(error: Error & { code?: string }, response: ServerResponse, socket: Socket): void {
    if (response.writableEnded) return void socket.destroy();
    closeAfter(response, socket);
    const refusal = parserRefusal(error.code);
    this.#broken.set(response.req, refusal);
    if (response.req.listenerCount("error") > 0) response.req.emit("error", refusal);
  }

  /**
   * Counts, records and answers a CONNECT, or bytes that never became a request. While an earlier
   * request of the connection is running, sends no answer, because the client would take it for the
   * earlier request's.
   */
  #refuseUnread(socket: Socket, method: string, otherwise: HttpError): void {
    const refusal = this.#refusalOf(socket, otherwise);
    const requestId = uuidv7();
    const { code } = refusal;
    this.#deps.record({ method, route: "", status: statusOf[code], code, ms: 0, requestId });
    const running = this.#deps.connections.runningOf(socket);
    if (running) closeAfter(running, socket);
    else if (socket.writable) socket.end(answerText(requestId, refusal, this.#deps.help));
    else socket.destroy();
  }

  /**
   * The 429 when the peer's address is over its limit, else the given error. X-Forwarded-For is not
   * used, because unreadable bytes have none; CONNECT is counted in the same way.
   */
  #refusalOf(socket: Socket, otherwise: HttpError): HttpError {
    try {
      this.#deps.limits.countRequest({ ip: socket.remoteAddress ?? "", socket });
      return otherwise;
    } catch (error) {
      if (error instanceof HttpError) return error;
      throw error;
    }
  }
}

function answerText(requestId: string, refusal: HttpError, help: string | undefined): string {
  const { status, headers, body } = refused(refusal, help);
  return rawAnswer(status, { ...headersFor(requestId), ...headers }, String(body));
}

function noTunnel(): HttpError {
  return new HttpError("METHOD_NOT_ALLOWED", "CONNECT is not allowed here: this is no proxy", {
    headers: { allow: "" },
  });
}

function parserRefusal(code: string | undefined): HttpError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new HttpError("REQUEST_TIMEOUT", "the request did not arrive in time");
  if (code === "HPE_HEADER_OVERFLOW") return new HttpError("INVALID_QUERY", "the URL and the headers are too long");
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return new HttpError("INVALID_PAYLOAD", "the chunk extensions are too long");
  const headers = { connection: "close" };
  return new HttpError("INVALID_PAYLOAD", "this is not a well-formed HTTP request", { headers });
}
