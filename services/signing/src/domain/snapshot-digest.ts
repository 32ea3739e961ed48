import type { Violation } from "@vidimus/kit/errors";
import { parseUuid, tenantIdPattern } from "@vidimus/kit/ids";

/** What is signed about one snapshot. */
export interface SnapshotDigest {
  readonly tenantId: string;
  /** Lowercase UUID. */
  readonly documentId: string;
  /** From 1, like `version`. */
  readonly sequence: number;
  readonly version: number;
  readonly status: "usable" | "withheld";
  /** Digest of the snapshot's bytes, 32 bytes. */
  readonly sha256: Uint8Array;
}

export interface RawSnapshotDigest {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: bigint;
  readonly version: bigint;
  readonly status: string;
  readonly sha256: Uint8Array;
}

/**
 * @param pointer JSON pointer to the digest in the request
 * @param violations receives the faults
 * @returns undefined when there is a fault
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
  if (!tenantIdPattern.test(tenantId)) refuse("tenantId", "must be a tenant id");
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
