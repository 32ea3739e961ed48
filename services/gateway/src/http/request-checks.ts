import type { FastifyReply, FastifyRequest } from "fastify";
import { authenticate, authorise } from "../access/authenticate.ts";
import type { Caller, KeyVerifier } from "../access/key-verifier.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import { acceptBody } from "./bodies/request-body.ts";
import { HttpError } from "./errors/http-error.ts";
import type { Route } from "./route.ts";

/** The checks of a request before its handler, in the order they run; each throws the refusal. */
export interface RequestChecks {
  /** 401 and 403. Sets the request's caller. */
  authorise(request: FastifyRequest, route: Route<never>): Promise<void>;
  /** 429 of the tenant's write budget. */
  chargeWrite(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** 415, and 413 by the announced length. Sets the request's media type. */
  checkBody(request: FastifyRequest, route: Route<never>): void;
}

interface RequestChecksDeps {
  readonly verifier: Pick<KeyVerifier, "verify">;
  readonly limits: Pick<RateLimits, "chargeWrite" | "countAuthFailure">;
  /** Is told of every request with a valid key. */
  onUse(caller: Caller): void;
}

export function requestChecks({ verifier, limits, onUse }: RequestChecksDeps): RequestChecks {
  async function callerOf(request: FastifyRequest): Promise<Caller> {
    try {
      return await authenticate(request.raw, verifier);
    } catch (error) {
      // Only after the key was checked: a valid key passes however many failures its address has
      // had.
      if (error instanceof HttpError && error.code === "UNAUTHORIZED") limits.countAuthFailure(request);
      throw error;
    }
  }
  return {
    authorise: async (request, { scope }) => {
      request.caller = await callerOf(request);
      onUse(request.caller);
      if (scope !== "open") authorise(request.caller, scope);
    },
    chargeWrite: async (request, reply) => {
      if (request.caller) await limits.chargeWrite(request.caller.tenantId, reply);
    },
    checkBody: (request, { body }) => {
      if (body) request.bodyType = acceptBody(request.headers, body);
    },
  };
}
