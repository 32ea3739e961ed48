import { rateExceeded } from "../rates/rate-exceeded.ts";
import { timeoutMsDefault } from "../http/bodies/request-body.ts";
import type { BodyRule, ErrorExamples, Route } from "../http/route.ts";

const rate = { count: 3_000, windowMs: 60_000 };
const verdict = { allowed: false, remaining: 0, resetMs: 12_000 };

/** Examples of a route's errors: those of all routes, those of its scope and body, and its own. */
export function errorExamples(route: Route<never>): ErrorExamples {
  const { scope, body, method, doc } = route;
  return {
    INVALID_QUERY: 'query parameter "limti" is unknown',
    ...(scope === "open" ? {} : closed(scope)),
    ...(body ? bodyErrors(body) : {}),
    METHOD_NOT_ALLOWED: `TRACE is not allowed here; allowed: ${method === "GET" ? "GET, HEAD" : method}, OPTIONS`,
    RATE_LIMITED: rateExceeded(method === "GET" ? "ip" : "writes", rate, verdict).message,
    INTERNAL: "internal error",
    UNAVAILABLE: "a service cannot be reached",
    TIMEOUT: "a service did not answer in time",
    ...doc.errors,
  };
}

function closed(scope: string): ErrorExamples {
  return {
    UNAUTHORIZED: "the API key is not valid",
    FORBIDDEN: `the API key lacks the scope ${scope}`,
  };
}

function bodyErrors({ types, bytesMax, timeoutMs = timeoutMsDefault }: BodyRule): ErrorExamples {
  return {
    INVALID_PAYLOAD: "the body is not valid",
    REQUEST_TIMEOUT: `the body did not arrive within ${timeoutMs / 1000} s`,
    PAYLOAD_TOO_LARGE: `the body must not be larger than ${bytesMax} bytes`,
    UNSUPPORTED_MEDIA_TYPE: `Content-Type must be ${types.join(" or ")}`,
  };
}
