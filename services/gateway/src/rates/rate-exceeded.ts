import { serializeList } from "structured-headers";
import { HttpError } from "../errors/http-error.ts";
import type { Rate } from "./rate.ts";
import type { Verdict } from "./verdict.ts";

/** Names of the rate limits in `RateLimit-Policy` and in metrics. */
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

const secondsOf = ({ resetMs }: Verdict): number => Math.max(1, Math.ceil(resetMs / 1000));
