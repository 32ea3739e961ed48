import { createHash, createHmac } from "node:crypto";
import type { Payload } from "./payload.ts";

/** One attempt to post a payload to an endpoint. */
interface WebhookAttempt {
  payload: Payload;
  /** The endpoint's secret, decoded. */
  secret: Uint8Array;
  deliveryId: string;
  /** From 1. */
  attempt: number;
  /**
   * Start of the attempt. It is signed, and receivers refuse a webhook that is more than five
   * minutes old.
   */
  at: Date;
}

/**
 * Headers of an attempt: Standard Webhooks, an HMAC over the body alone, its digest, and ids for
 * support.
 */
export function webhookHeaders({ payload, secret, deliveryId, attempt, at }: WebhookAttempt): Record<string, string> {
  const { webhookId, event, keyId, body } = payload;
  const timestamp = Math.floor(at.getTime() / 1000).toString();
  const signed = createHmac("sha256", secret).update(`${webhookId}.${timestamp}.`).update(body).digest("base64");
  return {
    "content-type": "application/json",
    "user-agent": "Vidimus-Delivery/1",
    "content-digest": `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
    "webhook-id": webhookId,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signed}`,
    "x-vidimus-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    "vidimus-event": event,
    "vidimus-key-id": keyId,
    "vidimus-delivery-id": deliveryId,
    "vidimus-attempt": attempt.toString(),
  };
}
