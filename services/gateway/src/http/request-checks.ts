import type { FastifyReply, FastifyRequest } from "fastify";
import { authenticate, authorise, unauthorized } from "../access/authenticate.ts";
import type { Caller, KeyVerifier } from "../access/key-verifier.ts";
import type { RateLimits } from "../rates/rate-limits.ts";
import { acceptBody } from "./bodies/request-body.ts";
import type { Scope } from "../access/scopes.ts";
import type { Route } from "./route.ts";

/**
 * The checks of a request before its handler, in this order. Each throws the refusal, or rejects
 * with it when it has to wait.
 */
export interface RequestChecks {
  /** Refuses with 401, with 429 after too many 401s, or with 403 for the scope. Sets the caller. */
  checkKey(request: FastifyRequest, route: Route<never>): Promise<void> | void;
  /** Refuses with 429 when the tenant's write budget is used up. */
  chargeWrite(request: FastifyRequest, reply: FastifyReply): Promise<void> | void;
  /** Refuses with 415, or with 413 for the announced length. Sets the request's media type. */
  checkBody(request: FastifyRequest, route: Route<never>): void;
}

interface RequestChecksDeps {
  readonly verifier: Pick<KeyVerifier, "verify">;
  readonly limits: Pick<RateLimits, "chargeWrite" | "countAuthFailure">;
  /** Called for every request whose key was checked and is valid. */
  onUse(caller: Caller): void;
}

export function requestChecks({ verifier, limits, onUse }: RequestChecksDeps): RequestChecks {
  function accept(request: FastifyRequest, caller: Caller | undefined, scope: Scope | "open"): void {
    if (!caller) {
      // Counted only after the key was checked: a valid key passes however many failures its
      // address has had.
      limits.countAuthFailure(request);
      throw unauthorized(request.raw);
    }
    request.caller = caller;
    onUse(caller);
    if (scope !== "open") authorise(caller, scope);
  }
  return {
    checkKey: (request, { scope }) => {
      const caller = authenticate(request.raw, verifier);
      return caller instanceof Promise
        ? caller.then((found) => accept(request, found, scope))
        : accept(request, caller, scope);
    },
    chargeWrite: ({ caller }, reply) => (caller ? limits.chargeWrite(caller.tenantId, reply) : undefined),
    checkBody: (request, { body }) => {
      if (body) request.bodyType = acceptBody(request.headers, body);
    },
  };
}
