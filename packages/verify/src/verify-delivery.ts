import { checkEnvelope, checkWebhookId } from "./check-envelope.ts";
import { checkHmac } from "./check-hmac.ts";
import { parsePayload } from "./payload.ts";
import { type DeliveryRequest, rawBody } from "./received-request.ts";
import type { SnapshotStatement } from "./statement.ts";
import type { TrustedKey, TrustList } from "./trust-list.ts";
import { type SnapshotSignature, verifySnapshot } from "./verify-snapshot.ts";

export interface VerifyDeliveryOptions {
  /** The endpoint's secret, `whsec_…`; the old and the new one while it is rotated. */
  readonly secret: string | readonly string[];
  /** `trustListAt(url)`, or the `keys` of `GET /api/keys`. */
  readonly keys: TrustList | readonly TrustedKey[];
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** A delivered snapshot, completely verified. */
export interface SnapshotDelivery extends SnapshotStatement {
  readonly kind: "snapshot";
  /** The same in every repetition of this delivery. */
  readonly webhookId: string;
  readonly type: "snapshot.usable" | "snapshot.withheld";
  readonly documentType: string;
  /** The document: `{content, id, links, meta, title, type, updated_at}`. */
  readonly snapshot: Readonly<Record<string, unknown>>;
  /**
   * The snapshot's bytes as they were signed. Store them with `signature` to prove the snapshot
   * later.
   */
  readonly bytes: Uint8Array;
  readonly signature: SnapshotSignature;
}

/** A message about an endpoint, such as `endpoint.ping`. It has an HMAC and no signature. */
export interface EventDelivery {
  readonly kind: "event";
  readonly webhookId: string;
  readonly type: string;
  readonly data: unknown;
}

export type Delivery = SnapshotDelivery | EventDelivery;

/**
 * Verifies a delivery completely: HMAC, clock and id, then of a snapshot also key, signature and
 * digest, and that the envelope agrees with the statement.
 *
 * @throws VerificationError whose `fault` says what is wrong
 * @throws TrustListUnavailable when the trust list is needed, and cannot be fetched or is refused
 */
export async function verifyDelivery(
  request: DeliveryRequest,
  { secret, keys, now = Date.now }: VerifyDeliveryOptions,
): Promise<Delivery> {
  const body = await rawBody(request);
  const webhookId = await checkHmac(request, body, typeof secret === "string" ? [secret] : secret, now());
  const payload = parsePayload(body);
  checkWebhookId(payload, webhookId);
  if (payload.kind === "event") return { kind: "event", webhookId, type: payload.type, data: payload.data };
  const { bytes, signature, snapshot } = payload;
  const stated = await verifySnapshot(bytes, signature, keys);
  const { documentType } = checkEnvelope(payload, stated);
  const type = `snapshot.${stated.status}` as const;
  return { kind: "snapshot", webhookId, type, documentType, ...stated, snapshot, bytes, signature };
}
