import type { Logger } from "@vidimus/kit/telemetry/log";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { AnswerEncoder } from "./answer-encoder.ts";
import { refused } from "./answer.ts";
import { sendAnswer } from "./send-answer.ts";
import { toHttpError } from "../../errors/error-table.ts";
import { HttpError } from "../../errors/http-error.ts";

/**
 * Answers every error of a request in the envelope, and logs INTERNAL ones.
 *
 * @param help URL of the page that explains the codes
 */
export function handleErrors(app: FastifyInstance, encoder: AnswerEncoder, log: Logger, help?: string): void {
  app.setErrorHandler((error, request, reply) => {
    const refusal = toHttpError(error, request.method);
    if (refusal.code === "INTERNAL") {
      log.error({ requestId: request.id, err: refusal.cause ?? error }, "request failed");
    }
    request.errorCode = refusal.code;
    startOver(reply);
    const answer = encoder.encode(request, refused(refusal, help));
    if (!(answer instanceof Promise)) return sendAnswer(request, reply, answer);
    return answer.then((ready) => sendAnswer(request, reply, ready));
  });
  app.setNotFoundHandler(() => {
    throw notFound();
  });
}

export function notFound(): HttpError {
  return new HttpError("NOT_FOUND", "there is nothing at this path");
}

/** Removes the headers about the body of an answer that failed before its first byte. */
function startOver(reply: FastifyReply): void {
  // When the request's body was refused, Fastify has set `Connection: close`, which would cut off a
  // client that is still sending. `sendAnswer` sets the header where it is needed.
  void reply.removeHeader("connection");
  for (const name of ["content-encoding", "content-disposition", "etag"]) {
    void reply.removeHeader(name);
    reply.raw.removeHeader(name);
  }
}
