import { HttpError, inOneSecond } from "../errors/http-error.ts";
import { type PoolSize, shareOf } from "./pool-size.ts";

/** The 429 of a tenant that asks for more than its share of a pool. */
export function shareInUse(size: PoolSize): HttpError {
  const share = shareOf(size);
  const amount = size.unit === "bytes" ? `${share / 1024 / 1024} MiB` : `${share} requests`;
  const message = `The tenant's share of the ${size.name}, ${amount}, is in use; retry in 1 s`;
  return new HttpError("RATE_LIMITED", message, inOneSecond);
}

/** The 503 of a pool of which too little is left. */
export function poolExhausted({ name }: PoolSize): HttpError {
  return new HttpError("UNAVAILABLE", `The ${name} is exhausted; retry in 1 s`, inOneSecond);
}
