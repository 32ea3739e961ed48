import type { FastifyReply, FastifyRequest } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { Rate } from "./rate.ts";
import { LocalLimit } from "./local-limit.ts";
import { rateExceeded, rateHeaders, type RatePolicy } from "./rate-exceeded.ts";
import type { Verdict } from "./verdict.ts";
import type { WriteBudget } from "./write-budget.ts";
import { limitKey } from "./limit-key.ts";

/** An undefined rate or budget means no limit. */
interface RateLimitOptions {
  readonly ipRate: Rate | undefined;
  readonly authFailureRate: Rate | undefined;
  readonly writeBudget: WriteBudget | undefined;
  readonly registry: Registry;
}

export interface LargeCharge {
  /** Does not reject: points that cannot be refunded are lost. */
  refundAllBut(points: number): Promise<void>;
}

const uncharged: LargeCharge = { refundAllBut: () => Promise.resolve() };

/** The limits of the public port. Above one a method throws RATE_LIMITED, which names the limit. */
export class RateLimits {
  readonly #ip: LocalLimit | undefined;
  readonly #authFailures: LocalLimit | undefined;
  readonly #writes: WriteBudget | undefined;
  readonly #decisions: Counter<"policy" | "outcome">;

  constructor({ ipRate, authFailureRate, writeBudget, registry }: RateLimitOptions) {
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

  countRequest(request: Pick<FastifyRequest, "ip" | "socket">): void {
    if (this.#ip) this.#decide("ip", this.#ip.rate, this.#ip.take(keyOf(request)));
  }

  countAuthFailure(request: FastifyRequest): void {
    const limit = this.#authFailures;
    if (limit) this.#decide("auth-failures", limit.rate, limit.take(keyOf(request)));
  }

  chargeWrite(tenantId: string, reply: FastifyReply): Promise<void> | void {
    const budget = this.#writes;
    if (!budget) return;
    const decide = (verdict: Verdict): void => {
      void reply.headers(rateHeaders("writes", budget.rate, verdict));
      this.#decide("writes", budget.rate, verdict);
    };
    const verdict = budget.charge(tenantId);
    if (verdict instanceof Promise) return verdict.then(decide);
    decide(verdict);
  }

  /**
   * Charges the points of a large write, all or none, at most the whole budget. An import has one
   * point for each 100 rows. Callers charge before they write the first row, so that RATE_LIMITED
   * means nothing was written.
   */
  readonly chargeWhole = async (tenantId: string, points: number): Promise<LargeCharge> => {
    const budget = this.#writes;
    if (!budget || points <= 0) return uncharged;
    const verdict = await budget.chargeWhole(tenantId, points);
    this.#decide("writes", budget.rate, verdict);
    const refundAllBut = (kept: number) => budget.refund(tenantId, budget.wholeOf(points) - kept, verdict.endsAt);
    return { refundAllBut };
  };

  #decide(policy: RatePolicy, rate: Rate, verdict: Verdict): void {
    this.#decisions.inc({ policy, outcome: verdict.allowed ? "allowed" : "denied" });
    if (verdict.allowed) return;
    throw rateExceeded(policy, rate, verdict);
  }
}

function keyOf(request: Pick<FastifyRequest, "ip" | "socket">): string {
  return limitKey(request.ip, request.socket.remoteAddress ?? "");
}
