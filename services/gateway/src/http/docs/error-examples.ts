import type { ErrorCode } from "../http-error.ts";
import type { Route } from "../route.ts";

/** An error that a route can answer, and what its message then says. */
export type ErrorExamples = Partial<Record<ErrorCode, string>>;

/** Every error a route can answer: those that come with its scope, its body and its method, and its own. */
export function errorExamples(route: Route<never>): ErrorExamples {
  const { scope, body, method, doc } = route;
  return {
    INVALID_QUERY: 'query parameter "limti" is unknown',
    ...(scope === "open" ? {} : closed(scope)),
    ...(body ? bodyErrors(body.types, body.bytesMax) : {}),
    RATE_LIMITED:
      method === "GET"
        ? "Per-IP limit of 3000 requests per 60 s exceeded; retry in 12 s"
        : "Write budget of the tenant of 3000 writes per 60 s exceeded; retry in 12 s",
    INTERNAL: "internal error",
    UNAVAILABLE: "a service cannot be reached",
    TIMEOUT: "a service did not answer in time",
    ...doc.errors,
  };
}

function closed(scope: string): ErrorExamples {
  return {
    UNAUTHORIZED: "a valid API key is needed: Authorization: Bearer <API_KEY>",
    FORBIDDEN: `the API key lacks the scope ${scope}`,
  };
}

function bodyErrors(types: readonly string[], bytesMax: number): ErrorExamples {
  return {
    INVALID_PAYLOAD: "the body is not valid",
    REQUEST_TIMEOUT: "the body did not arrive within 10 s",
    PAYLOAD_TOO_LARGE: `the body must not be larger than ${bytesMax} bytes`,
    UNSUPPORTED_MEDIA_TYPE: `Content-Type must be ${types.join(" or ")}`,
  };
}
