import { DomainError } from "@vidimus/kit/errors";
import { decodeOpaqueToken, encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import type { SnapshotKey } from "./snapshot-feed.ts";

/** The page token of `ListSignatures` whose page starts behind the given snapshot. */
export function encodeSignatureToken({ tenantId, documentId, sequence }: SnapshotKey): string {
  return encodeOpaqueToken([tenantId, documentId, sequence]);
}

/**
 * The position in a token; undefined for "". A forged position is not detected.
 *
 * @throws DomainError `invalid` for a token that holds no position
 */
export function decodeSignatureToken(token: string): SnapshotKey | undefined {
  if (token === "") return undefined;
  const [tenantId, documentId, sequence] = decodeOpaqueToken(token) ?? [];
  if (typeof tenantId === "string" && typeof documentId === "string" && typeof sequence === "number") {
    return { tenantId, documentId, sequence };
  }
  throw new DomainError("invalid", "page_token must be one that an earlier page gave");
}
