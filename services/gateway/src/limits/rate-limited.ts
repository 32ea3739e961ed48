import { serializeList } from "structured-headers";
import { HttpError } from "../http/errors/http-error.ts";
import { type PoolSize, shareOf } from "./pool-size.ts";
import type { Rate } from "./rate.ts";
import type { Verdict } from "./verdict.ts";

/** A rate limit, by its name in `RateLimit-Policy` and in metrics. */
export type RatePolicy = "ip" | "auth-failures" | "writes";

const nouns: Readonly<Record<RatePolicy, readonly [limit: string, counted: string]>> = {
  ip: ["Per-IP limit", "requests"],
  "auth-failures": ["Per-IP limit of failed authentications", "failures"],
  writes: ["Write budget of the tenant", "writes"],
};

/**
 * The 429 of a rate limit, for example "Per-IP limit of 3000 requests per 60 s exceeded; retry in
 * 12 s".
 */
export function rateExceeded(policy: RatePolicy, rate: Rate, verdict: Verdict): HttpError {
  const seconds = secondsOf(verdict);
  const [limit, counted] = nouns[policy];
  const message = `${limit} of ${rate.count} ${counted} per ${rate.windowMs / 1000} s exceeded; retry in ${seconds} s`;
  const headers = { "retry-after": String(seconds), ...rateHeaders(policy, rate, verdict) };
  return new HttpError("RATE_LIMITED", message, { headers });
}

/** `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers. */
export function rateHeaders(policy: RatePolicy, rate: Rate, verdict: Verdict): Record<string, string> {
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

/** For clients that may try again as soon as another request has ended. */
export const inOneSecond = { headers: { "retry-after": "1" } };

/** The 429 of a tenant that holds its share of a pool. */
export function shareInUse(size: PoolSize): HttpError {
  const share = shareOf(size);
  const amount = size.unit === "bytes" ? `${share / 1024 / 1024} MiB` : `${share} requests`;
  const message = `The tenant's share of the ${size.name}, ${amount}, is in use; retry in 1 s`;
  return new HttpError("RATE_LIMITED", message, inOneSecond);
}

/** The 503 of a pool that all tenants together have used up. */
export function poolExhausted({ name }: PoolSize): HttpError {
  return new HttpError("UNAVAILABLE", `The ${name} is exhausted; retry in 1 s`, inOneSecond);
}

const secondsOf = ({ resetMs }: Verdict): number => Math.max(1, Math.ceil(resetMs / 1000));
