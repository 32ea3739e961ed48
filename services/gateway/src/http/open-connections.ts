import type { FastifyInstance } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export class OpenConnections {
  readonly #last = new WeakMap<Socket, ServerResponse>();
  readonly #open = new Set<Socket>();

  /**
   * Notes the last request of each connection. Ends inactive connections and, when the app stops,
   * those of running requests after their answers.
   */
  watch(app: FastifyInstance): void {
    // Notes a request before Fastify handles it, because the parser may fail on bytes after its
    // head in the same turn of the event loop, and `lastOf` must then return its answer.
    app.server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#last.set(socket, response);
    });
    app.server.on("connection", (socket: Socket) => {
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
    });
    // Without a listener Node would close an inactive connection normally, even in the middle of an
    // answer, which an HTTP/1.0 client would then take for complete.
    app.server.on("timeout", (socket: Socket) => this.#cut(socket));
    // When Fastify begins to stop, it closes connections without a request, and announces the end
    // of a connection in the answers to later requests. A connection with a running request would
    // stay open after its answer and be cut ten seconds later, perhaps just when its client uses it
    // again.
    app.addHook("preClose", async () => this.#endRunning());
  }

  /** The answer to the last request of a connection. */
  lastOf(socket: Socket): ServerResponse | undefined {
    return this.#last.get(socket);
  }

  /** The answer to the last request of a connection, unless all of it was sent. */
  runningOf(socket: Socket): ServerResponse | undefined {
    const last = this.#last.get(socket);
    return last?.writableFinished ? undefined : last;
  }

  /** Ends all connections at once, even in the middle of an answer. */
  cut(): void {
    for (const socket of this.#open) this.#cut(socket);
  }

  /**
   * A client may take the end of a connection for the end of its answer, as in HTTP/1.0. So when an
   * answer is not completely sent, its connection is reset.
   */
  #cut(socket: Socket): void {
    if (this.runningOf(socket)) socket.resetAndDestroy();
    else socket.destroy();
  }

  #endRunning(): void {
    for (const socket of this.#open) {
      const running = this.runningOf(socket);
      if (running) closeAfter(running, socket);
    }
  }
}

export function closeAfter(response: ServerResponse, socket: Socket): void {
  if (!response.headersSent) response.setHeader("connection", "close");
  response.once("finish", () => socket.destroySoon());
}
