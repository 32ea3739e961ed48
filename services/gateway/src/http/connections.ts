import { uuidv7 } from "@vidimus/kit/ids";
import type { FastifyInstance } from "fastify";
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { refused } from "./answers/answer.ts";
import { headersFor } from "./exchange/exchange.ts";
import type { RecordExchange } from "./exchange/exchange-log.ts";
import { HttpError, statusOf } from "./errors/http-error.ts";
import type { RateLimits } from "../limits/rate-limits.ts";

interface ConnectionsDeps {
  readonly limits: Pick<RateLimits, "countRequest">;
  readonly record: RecordExchange;
  /** URL of the page that explains the codes of errors. */
  readonly help: string | undefined;
}

/**
 * Answers the requests of the public port that never reach the framework: those that Node's parser
 * refuses, and tunnels.
 */
export class Connections {
  readonly #deps: ConnectionsDeps;
  /** The last request of each connection. */
  readonly #last = new WeakMap<Socket, ServerResponse>();
  readonly #open = new Set<Socket>();
  /** Requests whose body cannot be read to its end, with the error to answer. */
  readonly #broken = new WeakMap<IncomingMessage, HttpError>();

  constructor(deps: ConnectionsDeps) {
    this.#deps = deps;
  }

  /**
   * Notes the current request of each connection, and answers CONNECT, where Node would only close
   * the connection.
   */
  watch(app: FastifyInstance): void {
    // Not in a hook, because the parser may fail on the bytes after a head before the first hook
    // runs.
    app.server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#last.set(socket, response);
    });
    app.server.on("connection", (socket: Socket) => {
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
    });
    // Without a listener Node only closes a connection on which no byte moves.
    app.server.on("timeout", (socket: Socket) => this.#cut(socket));
    // Fastify closes what is idle when it begins to stop, and announces the end of a connection to
    // requests that come afterwards. A connection with a request under way would stay open behind its
    // answer, and be cut ten seconds later, perhaps in the moment in which its client uses it again.
    app.addHook("preClose", async () => this.#endRunning());
    // The one hook that waits: the parser reads on in the turn in which the hooks begin, and a
    // request whose bytes after the head are broken must not be answered 401 or 201 before that.
    app.addHook("onRequest", ({ raw }, _reply, done) => queueMicrotask(() => done(this.#broken.get(raw))));
    app.addHook("preParsing", ({ raw }, _reply, _payload, done) => done(this.#broken.get(raw)));
    app.server.on("connect", (_: IncomingMessage, socket: Socket) => {
      socket.on("error", () => socket.destroy());
      this.#refuseUnread(socket, "CONNECT", noTunnel());
    });
  }

  /** Ends all connections at once. */
  cut(): void {
    for (const socket of this.#open) this.#cut(socket);
  }

  /**
   * A client may take the end of a connection for the end of its answer, as HTTP/1.0 has it. So an
   * answer that is not sent to its end has its connection reset.
   */
  #cut(socket: Socket): void {
    const last = this.#last.get(socket);
    if (last && !last.writableFinished) socket.resetAndDestroy();
    else socket.destroy();
  }

  /** Ends the connections of all requests that are worked on, behind their answers. */
  #endRunning(): void {
    for (const socket of this.#open) {
      const last = this.#last.get(socket);
      if (last && !last.writableFinished) closeAfter(last, socket);
    }
  }

  /**
   * Answers what Node's parser refused or timed out, and closes the connection. A fault in a body
   * belongs to its request, which is answered and recorded like any other.
   */
  refuse(error: Error & { code?: string }, socket: Socket): void {
    const last = this.#last.get(socket);
    if (error.code === "ECONNRESET" || socket.destroyed) socket.destroy();
    else if (last && !last.req.complete) this.#breakBody(error, last, socket);
    else this.#refuseUnread(socket, "", parserRefusal(error.code));
  }

  /**
   * Passes the error to the reader of the body, or keeps it for a body that is not read yet. Closes
   * the connection of a request that is answered already.
   */
  #breakBody(error: Error & { code?: string }, response: ServerResponse, socket: Socket): void {
    if (response.writableEnded) return void socket.destroy();
    closeAfter(response, socket);
    const refusal = parserRefusal(error.code);
    this.#broken.set(response.req, refusal);
    if (response.req.listenerCount("error") > 0) response.req.emit("error", refusal);
  }

  /**
   * Counts, records and answers bytes that never became a request. While the request before them is
   * still being worked on they get no answer, because the client would take it for that request's
   * answer.
   */
  #refuseUnread(socket: Socket, method: string, otherwise: HttpError): void {
    const refusal = this.#refusalOf(socket, otherwise);
    const requestId = uuidv7();
    const { code } = refusal;
    this.#deps.record({ method, route: "", status: statusOf[code], code, ms: 0, requestId });
    const last = this.#last.get(socket);
    if (last && !last.writableFinished) closeAfter(last, socket);
    else if (socket.writable) socket.end(answerText(requestId, refusal, this.#deps.help));
    else socket.destroy();
  }

  /**
   * The limit's 429 if the address is over it, else the given error. The peer's address counts,
   * because the X-Forwarded-For of an unreadable request is unknown.
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
  const length = Buffer.byteLength(String(body));
  const all = { ...headersFor(requestId), ...headers, "content-length": length, connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${String(body)}`;
}

/**
 * Announces the end of the connection if the headers are not sent yet, and closes it after the
 * answer. The parser reads nothing more from it.
 */
function closeAfter(response: ServerResponse, socket: Socket): void {
  if (!response.headersSent) response.setHeader("connection", "close");
  response.once("finish", () => socket.destroySoon());
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
