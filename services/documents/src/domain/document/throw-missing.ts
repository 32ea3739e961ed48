import { DomainError } from "@vidimus/kit/errors";

/** Throws `invalid` for a request that lacks a field. */
export function throwMissing(field: string): never {
  throw new DomainError("invalid", `${field} is missing`, { reason: "missing" });
}
