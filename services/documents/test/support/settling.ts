import { endorsementOf } from "@vidimus/contracts/endorsement";
import { openTestFolder } from "@vidimus/devstack/testing/test-folder";
import { createSecretKey } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** The key that the documents service of a test shares with signing. */
export const attestationKey = createSecretKey(Buffer.alloc(32, 9));

let file: string | undefined;

/** A file with the key, one for each process of tests. */
export function attestationKeyFile(): string {
  if (file) return file;
  file = join(openTestFolder("attestation").path, "key");
  writeFileSync(file, attestationKey.export(), { mode: 0o600 });
  return file;
}

export interface SignedReference {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: bigint;
}

/** A signature of a snapshot as documents accepts it. Its value and digest are made up. */
export function signatureOf(
  { tenantId, documentId, sequence }: SignedReference,
  { keyId = "a", signedAt = "2026-01-01T00:00:00.000Z", signingNumber = 1, fill = 7 } = {},
) {
  const lines = ["vidimus-snapshot-v1", tenantId, documentId, sequence, 1, "usable", signedAt, keyId, "00"];
  return { keyId, statement: lines.join("\n"), value: new Uint8Array(64).fill(fill), signingNumber };
}

export function settlementOf(
  reference: SignedReference,
  signature = signatureOf(reference),
  endorsement: Uint8Array = endorsementOf(attestationKey, signature),
) {
  return { reference, outcome: { case: "signature" as const, value: signature }, endorsement };
}
