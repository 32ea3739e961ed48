import type { Violation } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/uuid";
import type { SnapshotDigest } from "./statement.ts";

/** A digest as a caller sent it. */
export interface RawSnapshotDigest {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: bigint;
  readonly version: bigint;
  readonly status: string;
  readonly sha256: Uint8Array;
}

/**
 * Checks one digest.
 *
 * @param pointer JSON pointer to it in the request
 * @param violations collects what is wrong with it
 * @returns undefined when anything is wrong
 */
export function parseSnapshotDigest(
  raw: RawSnapshotDigest,
  pointer: string,
  violations: Violation[],
): SnapshotDigest | undefined {
  const before = violations.length;
  const refuse = (member: keyof RawSnapshotDigest, message: string) =>
    violations.push({ pointer: `${pointer}/${member}`, message });
  const { tenantId, documentId, status, sha256 } = raw;
  if (!/^[a-z][a-z0-9_]{0,31}$/.test(tenantId)) refuse("tenantId", "must be a tenant id");
  if (parseUuid(documentId) !== documentId) refuse("documentId", "must be a lowercase UUID");
  if (!isCount(raw.sequence)) refuse("sequence", "must be from 1 to 2^53 - 1");
  if (!isCount(raw.version)) refuse("version", "must be from 1 to 2^53 - 1");
  if (status !== "usable" && status !== "withheld") refuse("status", 'must be "usable" or "withheld"');
  if (sha256.length !== 32) refuse("sha256", "must be 32 bytes");
  if (violations.length > before || (status !== "usable" && status !== "withheld")) return undefined;
  return { tenantId, documentId, sequence: Number(raw.sequence), version: Number(raw.version), status, sha256 };
}

function isCount(value: bigint): boolean {
  return value >= 1n && value <= BigInt(Number.MAX_SAFE_INTEGER);
}
