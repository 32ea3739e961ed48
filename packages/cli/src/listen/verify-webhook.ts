import { type TrustList, TrustListUnavailable, VerificationError, verifyDelivery } from "../../../verify/src/verify.ts";
import type { ArrivedWebhook } from "./local-receiver.ts";

/** A webhook as `listen --json` prints it. */
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
  /** A `VerificationFault`, or `unchecked` without a usable trust list; absent when verified. */
  readonly fault?: string;
  readonly message?: string;
}

/** Returns a fault of the webhook, or of the trust list, in the result instead of throwing it. */
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
 * 503 says that no webhook can be verified now, so delivery keeps their order; 400 refuses this
 * one, and a newer one of its document may overtake it. Delivery repeats both.
 */
export function statusFor({ verified, fault }: Arrival): number {
  if (verified) return 204;
  return fault === "unchecked" ? 503 : 400;
}

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
