import { VerificationError } from "./verification-error.ts";

/** The parsed statement of a snapshot's signature. */
export interface SnapshotStatement {
  readonly tenantId: string;
  /** Lowercase UUID. */
  readonly documentId: string;
  /** Counts the document's snapshots from 1; skips numbers only after a restore. */
  readonly sequence: number;
  /** The document's version in the snapshot. */
  readonly version: number;
  readonly status: "usable" | "withheld";
  readonly signedAt: Date;
  readonly keyId: string;
  /** SHA-256 of the snapshot's bytes: 64 lowercase hex digits. */
  readonly sha256: string;
}

const format = new RegExp(
  [
    "^vidimus-snapshot-v1",
    "(?<tenantId>[a-z][a-z0-9_]{0,31})",
    "(?<documentId>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    "(?<sequence>[1-9][0-9]{0,15})",
    "(?<version>[1-9][0-9]{0,15})",
    "(?<status>usable|withheld)",
    String.raw`(?<signedAt>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)`,
    "(?<keyId>ed25519-[A-Za-z0-9_-]{16})",
    "(?<sha256>[0-9a-f]{64})$",
  ].join("\n"),
);

/**
 * Reads the nine lines of a statement.
 *
 * @throws VerificationError `signature` when the text is no statement, or its time does not exist
 */
export function parseStatement(text: string): SnapshotStatement {
  const parts = format.exec(text)?.groups;
  if (!parts) throw new VerificationError("signature", "the statement does not have the nine lines of a snapshot");
  const { tenantId = "", documentId = "", status, signedAt: time = "", keyId = "", sha256 = "" } = parts;
  const signedAt = new Date(time);
  // The pattern also matches times that do not exist: minute 60, or 30 February, which `Date` reads
  // as a day in March.
  if (Number.isNaN(signedAt.getTime()) || signedAt.toISOString() !== time) {
    throw new VerificationError("signature", "the statement's time does not exist");
  }
  return {
    tenantId,
    documentId,
    sequence: Number(parts["sequence"]),
    version: Number(parts["version"]),
    status: status === "usable" ? "usable" : "withheld",
    signedAt,
    keyId,
    sha256,
  };
}
