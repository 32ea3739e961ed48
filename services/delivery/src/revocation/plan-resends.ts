import { deliveryIdOf } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { bodyBytesOf, factsOf, type Snapshot, webhookIdOf } from "../domain/payload.ts";
import { wants } from "../domain/wants.ts";
import type { NewDelivery } from "../store/delivery-rows.ts";
import type { DeliveryFate } from "../store/resent-row-store.ts";

/** A snapshot whose earlier signature is of a revoked key, with the number of its new signature. */
export interface SignedAnew {
  readonly snapshot: Snapshot;
  /** 2 or higher. */
  readonly signingNumber: number;
}

/** Ids of the deliveries of a snapshot to an endpoint, one for each signature of the snapshot. */
export function deliveryIdsUpTo({ snapshot, signingNumber }: SignedAnew, endpoint: Endpoint): string[] {
  const numbers = Array.from({ length: signingNumber }, (_, index) => index + 1);
  return numbers.map((number) => deliveryIdOf(endpoint, webhookIdOf(snapshot, number)));
}

/**
 * Plans deliveries of a snapshot that was signed again: to each endpoint that has accepted it only
 * with earlier signatures, and still wants it.
 *
 * @param fates from delivery id to fate, for the deliveries whose rows are still kept
 */
export function planResends(
  anew: SignedAnew,
  endpoints: readonly Endpoint[],
  fates: ReadonlyMap<string, DeliveryFate>,
  now: Date,
): NewDelivery[] {
  const { snapshot, signingNumber } = anew;
  const { tenantId, documentId, sequence } = snapshot;
  const webhookId = webhookIdOf(snapshot, signingNumber);
  const own = endpoints.filter((endpoint) => endpoint.tenantId === tenantId && wants(endpoint, snapshot));
  return own.flatMap((endpoint) => {
    const known = deliveryIdsUpTo(anew, endpoint).flatMap((id) => fates.get(id) ?? []);
    if (!hasOldSignature(known, webhookId, endpoint.createdAt <= snapshot.committedAt)) return [];
    const { endpointId } = endpoint;
    const deliveryId = deliveryIdOf(endpoint, webhookId);
    const names = { deliveryId, tenantId, endpointId, documentId, sequence, webhookId, signingNumber };
    const rest = { createdAt: now, bodyBytes: bodyBytesOf(snapshot), snapshot: factsOf(snapshot) };
    return Object.assign(names, rest, { standing: "due" as const });
  });
}

/**
 * Whether the endpoint has accepted the snapshot, and only with old signatures. A pending delivery
 * needs no other one, because it gets the new signature before it is sent.
 *
 * @param known the endpoint's deliveries of the snapshot; empty also when their rows were deleted
 * after 30 days
 * @param isOlder whether the endpoint existed when the snapshot was committed. If so, and without
 * rows, it counts as having accepted the snapshot
 */
function hasOldSignature(known: readonly DeliveryFate[], webhookId: string, isOlder: boolean): boolean {
  if (known.length === 0) return isOlder;
  if (known.some((each) => each.webhookId === webhookId)) return false;
  if (known.some(({ state }) => state === "pending")) return false;
  return known.some(({ state }) => state === "delivered");
}
