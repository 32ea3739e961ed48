import type { FastifyReply, FastifyRequest } from "fastify";
import { Counter, type Registry } from "prom-client";
import { serializeList } from "structured-headers";
import { type Rate, rateText } from "../domain/rate.ts";
import { LocalLimit } from "../limits/local-limit.ts";
import type { Verdict } from "../limits/verdict.ts";
import type { WriteBudget } from "../limits/write-budget.ts";
import { limitKey } from "./client-address.ts";
import { HttpError } from "./http-error.ts";

type Policy = "ip" | "auth-failures" | "writes";

const nouns: Readonly<Record<Policy, readonly [limit: string, counted: string]>> = {
  ip: ["Per-IP limit", "requests"],
  "auth-failures": ["Per-IP limit of failed authentications", "failures"],
  writes: ["Write budget of the tenant", "writes"],
};

/** How the limits of the public port are set; what is undefined is off. */
export interface LimitOptions {
  readonly ipRate: Rate | undefined;
  readonly authFailureRate: Rate | undefined;
  readonly writeBudget: WriteBudget | undefined;
  readonly registry: Registry;
}

/** The limits of the public port. Each method throws RATE_LIMITED, naming the limit, when it fires. */
export class Limits {
  readonly #ip: LocalLimit | undefined;
  readonly #authFailures: LocalLimit | undefined;
  readonly #writes: WriteBudget | undefined;
  readonly #decisions: Counter<"policy" | "outcome">;

  constructor({ ipRate, authFailureRate, writeBudget, registry }: LimitOptions) {
    this.#ip = ipRate && new LocalLimit(ipRate);
    this.#authFailures = authFailureRate && new LocalLimit(authFailureRate);
    this.#writes = writeBudget;
    this.#decisions = new Counter({
      name: "vidimus_rate_limit_decisions_total",
      help: "What the limits of the public port decided.",
      labelNames: ["policy", "outcome"],
      registers: [registry],
    });
  }

  /** Counts a request of an address, whatever it asks for. */
  countRequest(request: FastifyRequest): void {
    if (this.#ip) this.#decide("ip", this.#ip.rate, this.#ip.take(keyOf(request)));
  }

  /** Counts a failed authentication of an address. */
  countAuthFailure(request: FastifyRequest): void {
    const limit = this.#authFailures;
    if (limit) this.#decide("auth-failures", limit.rate, limit.take(keyOf(request)));
  }

  /** Charges a write to a tenant, and tells the client what is left. */
  async chargeWrite(tenantId: string, reply: FastifyReply): Promise<void> {
    if (!this.#writes) return;
    const verdict = await this.#writes.charge(tenantId);
    void reply.headers(rateHeaders("writes", this.#writes.rate, verdict));
    this.#decide("writes", this.#writes.rate, verdict);
  }

  /**
   * Charges a large write, such as an import's rows/100, all of it or none, and never more than the whole budget.
   * Call it after validation and before the first row is written: its RATE_LIMITED then says that nothing was.
   */
  readonly chargeWhole = async (tenantId: string, points: number): Promise<void> => {
    if (!this.#writes || points <= 0) return;
    this.#decide("writes", this.#writes.rate, await this.#writes.chargeWhole(tenantId, points));
  };

  #decide(policy: Policy, rate: Rate, verdict: Verdict): void {
    this.#decisions.inc({ policy, outcome: verdict.allowed ? "allowed" : "denied" });
    if (verdict.allowed) return;
    const seconds = secondsOf(verdict);
    const [limit, counted] = nouns[policy];
    const message = `${limit} of ${rateText(rate, counted)} exceeded; retry in ${seconds} s`;
    const headers = { "retry-after": String(seconds), ...rateHeaders(policy, rate, verdict) };
    throw new HttpError("RATE_LIMITED", message, { headers });
  }
}

function keyOf(request: FastifyRequest): string {
  return limitKey(request.ip, request.socket.remoteAddress ?? "");
}

const secondsOf = ({ resetMs }: Verdict): number => Math.max(1, Math.ceil(resetMs / 1000));

/** `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers. */
function rateHeaders(policy: Policy, rate: Rate, verdict: Verdict): Record<string, string> {
  const quota = new Map([
    ["q", rate.count],
    ["w", rate.windowMs / 1000],
  ]);
  const left = new Map([
    ["r", verdict.remaining],
    ["t", secondsOf(verdict)],
  ]);
  return {
    "ratelimit-policy": serializeList([[policy, quota]]),
    ratelimit: serializeList([[policy, left]]),
  };
}
