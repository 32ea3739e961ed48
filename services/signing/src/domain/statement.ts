/** What is signed about one snapshot; every part is checked (`snapshot-digest.ts`) before it gets here. */
export interface SnapshotDigest {
  readonly tenantId: string;
  /** Lowercase UUID. */
  readonly documentId: string;
  /** From 1, as is `version`. */
  readonly sequence: number;
  readonly version: number;
  readonly status: "usable" | "withheld";
  /** Of the snapshot's bytes, 32 bytes. */
  readonly sha256: Uint8Array;
}

/** By which key, and when. */
export interface Sealing {
  readonly keyId: string;
  readonly signedAt: Date;
}

/**
 * The text that is signed in a snapshot's stead: nine lines joined by LF, none at the end.
 *
 * The first line keeps a signature under it from being taken for one under anything else. It is short, so that any KMS
 * can sign it whole, and it carries its own verdict: compare the last line with the SHA-256 of the bytes at hand.
 */
export function statementOf(digest: SnapshotDigest, { keyId, signedAt }: Sealing): string {
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
  // A line end inside a part would let one statement read as another.
  if (lines.some((line) => line.includes("\n"))) throw new TypeError("a part of a statement holds a line end");
  return lines.join("\n");
}
