import type { onRequestHookHandler } from "fastify";
import { HttpError } from "../errors/http-error.ts";
import type { RateLimits } from "../rates/rate-limits.ts";
import { notFound } from "./answers/error-handler.ts";
import { readTarget } from "./request-target.ts";

/**
 * Counts each request against the limit of its address, then refuses a bad target, HTTP/1.1 without
 * a Host, and an unknown path.
 */
export function admitRequest(limits: Pick<RateLimits, "countRequest">): onRequestHookHandler {
  // A hook that returned a promise would cost each request a microtask, so this one calls `done`.
  return (request, _reply, done) => {
    limits.countRequest(request);
    if (readTarget(request.originalUrl) === undefined) throw noTarget();
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") throw noHost();
    // Refuse an unknown path here, before the body of the request is read.
    if (request.is404) throw notFound();
    done();
  };
}

function noTarget(): HttpError {
  return new HttpError("INVALID_QUERY", "the path of the URL cannot be decoded");
}

function noHost(): HttpError {
  return new HttpError("INVALID_PAYLOAD", "a Host header is needed", { headers: { connection: "close" } });
}
