import { type TrustList, TrustListUnavailable, VerificationError, verifyDelivery } from "../../../verify/src/verify.ts";
import type { ArrivedWebhook } from "./local-receiver.ts";

/** A webhook as `listen` prints it. */
export interface Arrival {
  readonly at: string;
  readonly verified: boolean;
  readonly webhookId: string | null;
  readonly event: string | null;
  readonly attempt: number;
  readonly bytes: number;
  /** Set, like the three members below, when a snapshot was verified. */
  readonly documentType?: string;
  readonly documentId?: string;
  readonly version?: number;
  readonly sequence?: number;
  /** What is wrong: `body`, `secret`, `clock`, `key`, `signature`, `digest`, or `unchecked`. */
  readonly fault?: string;
  readonly message?: string;
}

/**
 * Verifies a webhook. A fault of the webhook, or a trust list that cannot be had, is a part of the
 * result and is not thrown.
 */
export async function verifyWebhook(
  { headers, body }: ArrivedWebhook,
  options: { secret: string; keys: TrustList },
): Promise<Arrival> {
  const seen = {
    at: new Date().toISOString(),
    webhookId: text(headers["webhook-id"]),
    event: text(headers["vidimus-event"]),
    attempt: Number(text(headers["vidimus-attempt"]) ?? 0),
    bytes: body.byteLength,
  };
  try {
    const delivery = await verifyDelivery({ headers, body }, options);
    if (delivery.kind === "event") return { ...seen, verified: true };
    const { documentType, documentId, version, sequence } = delivery;
    return { ...seen, verified: true, documentType, documentId, version, sequence };
  } catch (error) {
    if (error instanceof VerificationError)
      return { ...seen, verified: false, fault: error.fault, message: error.message };
    if (error instanceof TrustListUnavailable)
      return { ...seen, verified: false, fault: "unchecked", message: error.message };
    throw error;
  }
}

/**
 * The status to answer with: 503 asks for another attempt, 400 says that the webhook is not
 * genuine.
 */
export function statusFor({ verified, fault }: Arrival): number {
  if (verified) return 204;
  return fault === "unchecked" ? 503 : 400;
}

/** A webhook in one line for people. */
export function arrivalText(arrival: Arrival): string {
  const { at, verified, event, webhookId, attempt, bytes, fault, message } = arrival;
  const about = arrival.documentId
    ? `  ${arrival.documentType} ${arrival.documentId} version ${arrival.version}, sequence ${arrival.sequence}`
    : "";
  const repeated = attempt > 1 ? `  attempt ${attempt}` : "";
  const verdict = verified ? "verified" : `REFUSED by ${fault}: ${message}`;
  return `${at}  ${event ?? "?"}  ${webhookId ?? "?"}${about}  ${bytes} bytes${repeated}  ${verdict}`;
}

function text(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}
