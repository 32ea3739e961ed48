import type { FastifyReply, FastifyRequest } from "fastify";
import type { Socket } from "node:net";
import { finished, Readable } from "node:stream";
import { closeUnlessRead } from "../bodies/lingering-close.ts";
import { type Answer, bodyBytes, bodyPieces } from "./answer.ts";

/** For HEAD, or when the client has left, sends only headers, and does not open a stream. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.code(answer.status).headers(answer.headers);
  closeUnlessRead(request, reply);
  const { body } = answer;
  if (request.method === "HEAD" || reply.raw.closed) {
    if (typeof body !== "function" && body !== undefined) void reply.header("content-length", bodyBytes(body));
    return reply.send();
  }
  if (typeof body === "function") return reply.send(resetOnFault(reply, readable(body())));
  return reply.send(typeof body === "object" ? Buffer.concat(bodyPieces(body)) : body);
}

/**
 * Resets the connection when a stream fails after its answer began. In HTTP/1.0 a body ends with
 * its connection, so closing the connection normally would make the answer look complete.
 */
function resetOnFault({ raw }: FastifyReply, stream: Readable): Readable {
  finished(stream, { writable: false }, (fault) => {
    if (!fault || !raw.headersSent) return;
    if (raw.socket) raw.socket.resetAndDestroy();
    // Earlier answers on the connection are still being sent.
    else raw.once("socket", (socket: Socket) => socket.resetAndDestroy());
  });
  return stream;
}

function readable(stream: AsyncIterable<Uint8Array>): Readable {
  return stream instanceof Readable ? stream : Readable.from(stream, { objectMode: false });
}
