import type { FastifyReply, FastifyRequest } from "fastify";
import { Readable } from "node:stream";
import { closeUnlessRead } from "../bodies/lingering-close.ts";
import { type Answer, bodyBytes, bodyPieces } from "./answer.ts";

/**
 * Sends an answer; for HEAD, or a client that has left, its headers only, and a stream is not even
 * opened.
 */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.code(answer.status).headers(answer.headers);
  closeUnlessRead(request, reply);
  const { body } = answer;
  if (request.method === "HEAD" || reply.raw.closed) {
    if (typeof body !== "function" && body !== undefined) void reply.header("content-length", bodyBytes(body));
    return reply.send();
  }
  if (typeof body === "function") return reply.send(readable(body()));
  return reply.send(typeof body === "object" ? Buffer.concat(bodyPieces(body)) : body);
}

function readable(stream: AsyncIterable<Uint8Array>): Readable {
  return stream instanceof Readable ? stream : Readable.from(stream, { objectMode: false });
}
