import type { onRequestHookHandler } from "fastify";
import { HttpError } from "../errors/http-error.ts";
import type { RateLimits } from "../rates/rate-limits.ts";
import { notFound } from "./answers/error-handler.ts";
import { readTarget } from "./request-target.ts";

/** Counts the address of a request, and refuses what no route can answer. */
export function admitRequest(limits: Pick<RateLimits, "countRequest">): onRequestHookHandler {
  // Hooks call `done` instead of returning a promise, which costs each request a microtask a hook.
  return (request, _reply, done) => {
    limits.countRequest(request);
    if (readTarget(request.originalUrl) === undefined) throw noTarget();
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") throw noHost();
    // Before the body of a request to an unknown path is read.
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
