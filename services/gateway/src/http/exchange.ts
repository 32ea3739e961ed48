import { readTraceparent } from "@vidimus/kit/rpc/call-context";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../domain/key-verifier.ts";
import type { Answer } from "./answer.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who is behind the request, once that is known. */
    caller: Caller | undefined;
    /** Media type of the body, once it was accepted. */
    bodyType: string;
    /** W3C Trace Context, the client's or a new one. */
    traceparent: string;
    /** Milliseconds on the monotonic clock, moved on by the time that the request only waited. */
    startedAt: number;
    /** The same clock when the request began to wait, while it does. */
    pausedAt: number | undefined;
  }
  interface FastifyContextConfig {
    /** What a key needs for the route, or `open`. */
    scope?: string;
  }
}

/** Stands for the caller on open routes. */
export const nobody: Caller = { tenantId: "", keyId: "", prefix: "", scopes: [] };

/** On every answer, whatever it says. */
const commonHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=31536000",
  vary: "accept-encoding",
};

/** Headers of an answer that goes out without the framework, or before it. */
export function headersFor(requestId: string): Record<string, string> {
  return { "x-request-id": requestId, ...commonHeaders };
}

/** Marks a request that has just come in, and its answer. */
export function openExchange(request: FastifyRequest, reply: FastifyReply): void {
  request.startedAt = performance.now();
  const { traceparent } = request.headers;
  request.traceparent = readTraceparent(typeof traceparent === "string" ? traceparent : undefined);
  void reply.headers(headersFor(request.id));
}

/** Sends an answer; for HEAD its headers only, and a stream is not even opened. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.code(answer.status).headers(answer.headers);
  const { body } = answer;
  if (request.method === "HEAD") {
    if (typeof body !== "function" && body !== undefined) void reply.header("content-length", Buffer.byteLength(body));
    return reply.send();
  }
  return reply.send(typeof body === "function" ? body() : body);
}
