import type { SnapshotDigest } from "./snapshot-digest.ts";

/**
 * The text that is signed for a snapshot: nine lines joined by LF, without a final LF.
 *
 * The first line names the format, so that a signature cannot be presented as one over another kind
 * of text. The statement is short, because a KMS signs a few KiB at most. Its last line is the
 * SHA-256 of the snapshot's bytes, with which a receiver checks the bytes.
 *
 * @throws TypeError when a part contains a line feed
 */
export function statementOf(
  digest: SnapshotDigest,
  { keyId, signedAt }: { readonly keyId: string; readonly signedAt: Date },
): string {
  const lines = [
    "vidimus-snapshot-v1",
    digest.tenantId,
    digest.documentId,
    String(digest.sequence),
    String(digest.version),
    digest.status,
    signedAt.toISOString(),
    keyId,
    Buffer.from(digest.sha256).toString("hex"),
  ];
  // With a line feed in a part, two different digests could give the same statement.
  if (lines.some((line) => line.includes("\n"))) throw new TypeError("a part of a statement holds a line end");
  return lines.join("\n");
}

export interface StatementParts extends SnapshotDigest {
  readonly keyId: string;
  readonly signedAt: Date;
}

/** Parses a statement; undefined when the text is not one that `statementOf` makes. */
export function parseStatement(text: string): StatementParts | undefined {
  const [, tenantId = "", documentId = "", sequence, version, status, at = "", keyId = "", hex = ""] = text.split("\n");
  const signedAt = new Date(at);
  if ((status !== "usable" && status !== "withheld") || Number.isNaN(signedAt.getTime())) return undefined;
  const sha256 = Buffer.from(hex, "hex");
  const digest = {
    tenantId,
    documentId,
    sequence: Number(sequence),
    version: Number(version),
    status,
    sha256,
  } as const;
  return statementOf(digest, { keyId, signedAt }) === text ? { ...digest, keyId, signedAt } : undefined;
}
