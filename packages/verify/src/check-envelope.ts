import type { Payload } from "./payload.ts";
import type { SnapshotStatement } from "./statement.ts";
import { VerificationError } from "./verification-error.ts";

/** @throws VerificationError `body` when the body belongs to another webhook */
export function checkWebhookId({ id }: Payload, webhookId: string): void {
  if (id !== webhookId) throw new VerificationError("body", "webhook-id is not the id in the body");
}

/**
 * Only the statement and the snapshot are signed, so the envelope's `type` and the members of
 * `data` beside the snapshot must say the same. The signed texts do not have the envelope's
 * `timestamp`, so it is not checked, and `verifyDelivery` does not return it.
 *
 * @throws VerificationError `signature` when a member says something else
 */
export function checkEnvelope(
  { type, data, snapshot }: Extract<Payload, { kind: "snapshot" }>,
  stated: SnapshotStatement,
): { documentType: string } {
  const { tenantId, documentId, sequence, version, status } = stated;
  const signed: Record<string, unknown> = { tenantId, documentId, sequence, version, status };
  const wrong = Object.keys(signed).find((name) => data[name] !== signed[name]);
  if (wrong) throw new VerificationError("signature", `data.${wrong} is not what was signed`);
  if (type !== `snapshot.${status}`) throw new VerificationError("signature", "type is not the status that was signed");
  const documentType = snapshot["type"];
  if (typeof documentType !== "string" || data["documentType"] !== documentType) {
    throw new VerificationError("signature", "data.documentType is not the snapshot's type");
  }
  return { documentType };
}
