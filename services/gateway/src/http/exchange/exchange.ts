import type { Span, Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../access/key-verifier.ts";
import type { ErrorCode } from "../../errors/http-error.ts";
import type { BodyScan } from "../route.ts";
import { openTrace } from "./exchange-span.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The tenant and key of the request, once the key was verified. */
    caller: Caller | undefined;
    /** Media type of the body; "" until `acceptBody` has accepted it. */
    bodyType: string;
    /** Undefined before the body is read, and on routes without a scan. */
    bodyScan: BodyScan | undefined;
    errorCode: ErrorCode | undefined;
    /** W3C Trace Context of the request's span; without a span the client's, or a new one. */
    traceparent: string;
    /** The request's span, while tracing is on. */
    span: Span | undefined;
    /**
     * Monotonic milliseconds of the start. Every ended wait of a long poll moves it forward, so
     * that the measured duration excludes waiting.
     */
    startedAt: number;
    /**
     * Monotonic milliseconds at which the current long-poll wait began; undefined outside of one.
     */
    pausedAt: number | undefined;
  }
  interface FastifyContextConfig {
    /** The scope that a key needs for the route, or `open`. */
    scope?: string;
  }
}

/** The caller of requests to open routes. */
export const noCaller: Caller = { tenantId: "", keyId: "", prefix: "", scopes: [] };

/** Headers of every answer, errors included. */
const commonHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=31536000",
  vary: "accept-encoding",
};

export function headersFor(requestId: string): Record<string, string> {
  return { "x-request-id": requestId, ...commonHeaders };
}

export function openExchange(request: FastifyRequest, reply: FastifyReply, tracing: Tracing | undefined): void {
  request.startedAt = performance.now();
  openTrace(request, tracing);
  void reply.headers(headersFor(request.id));
}
