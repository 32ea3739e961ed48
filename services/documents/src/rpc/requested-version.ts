import { DomainError } from "@vidimus/kit/errors";

/** A version number from a request field; throws `invalid` when it cannot be one. */
export function requestedVersion(field: string, version: bigint): number {
  if (version >= 1n && version <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(version);
  throw new DomainError("invalid", `${field} must be a version, counted from 1`);
}
