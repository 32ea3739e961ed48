import { createHmac, hash } from "node:crypto";
import type { Endpoint } from "./endpoint.ts";

interface Posted {
  readonly webhookId: string;
  /** For example `snapshot.usable`. */
  readonly event: string;
  /** Key of the trust list that signed the snapshot; absent for a notice and a ping. */
  readonly keyId?: string;
  readonly body: Uint8Array;
}

interface WebhookAttempt {
  readonly payload: Posted;
  readonly endpoint: Pick<Endpoint, "secrets" | "headers">;
  readonly deliveryId: string;
  /** From 1. */
  readonly attempt: number;
  /**
   * Start of the attempt. It is signed, and receivers refuse webhooks that are more than five
   * minutes old.
   */
  readonly at: Date;
  /** The replay that sends the webhook again, or an id of its own for a redelivery. */
  readonly replayId?: string;
}

/**
 * Headers of an attempt: the endpoint's own, those of Standard Webhooks, an HMAC and a digest of
 * the body alone, and ids for support. While a secret rotates, each HMAC is also made with the
 * older secret.
 */
export function webhookHeaders(attempt: WebhookAttempt): Record<string, string> {
  const { payload, endpoint, deliveryId, at, replayId } = attempt;
  const { webhookId, event, keyId, body } = payload;
  const timestamp = Math.floor(at.getTime() / 1000).toString();
  const [newest, previous] = endpoint.secrets;
  const signatures = endpoint.secrets.map((secret) => {
    const hmac = createHmac("sha256", secret).update(`${webhookId}.${timestamp}.`).update(body);
    return `v1,${hmac.digest("base64")}`;
  });
  return {
    ...endpoint.headers,
    "content-type": "application/json",
    "user-agent": "Vidimus-Delivery/1",
    "content-digest": `sha-256=:${hash("sha256", body, "base64")}:`,
    "webhook-id": webhookId,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
    "x-vidimus-signature-256": bodySignature(newest, body),
    ...(previous ? { "x-vidimus-signature-256-previous": bodySignature(previous, body) } : {}),
    "vidimus-event": event,
    ...(keyId === undefined ? {} : { "vidimus-key-id": keyId }),
    "vidimus-delivery-id": deliveryId,
    "vidimus-attempt": attempt.attempt.toString(),
    ...(replayId === undefined ? {} : { "vidimus-replay-id": replayId }),
  };
}

function bodySignature(secret: Uint8Array, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}
