import { type Delivery, deliveryIdOf, type Lane, laneKey } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { bodyBytesOf, factsOf, type Snapshot, webhookIdOf } from "../domain/payload.ts";
import { wants } from "../domain/wants.ts";
import type { NewDelivery } from "../store/delivery-rows.ts";

interface DeliveryPlanInput {
  /** Older before newer. */
  readonly snapshots: readonly Snapshot[];
  readonly endpoints: readonly Endpoint[];
  readonly isInHand: (lane: Lane) => boolean;
  /** How many lanes of an endpoint this plan may lease. */
  readonly capacityOf: (endpoint: Endpoint) => number;
  /** Reserves memory for the body of a lane to be leased. Returns whether there was enough. */
  readonly takeBody: (delivery: Delivery) => boolean;
  readonly now: Date;
}

interface DeliveryPlan {
  readonly deliveries: readonly NewDelivery[];
  /**
   * Lanes whose endpoint's filter excludes a snapshot, with its sequence: deliveries of these lanes
   * with lower sequences are to be superseded.
   */
  readonly excluded: readonly (Lane & Pick<Delivery, "sequence">)[];
}

/** Number of snapshots that each enabled endpoint gets; leaves out endpoints that get none. */
export function countWanted(
  snapshots: readonly Snapshot[],
  endpoints: readonly Endpoint[],
): ReadonlyMap<Endpoint, number> {
  const counts = endpoints.map((endpoint) => {
    const isWanted = (snapshot: Snapshot) => snapshot.tenantId === endpoint.tenantId && wants(endpoint, snapshot);
    return [endpoint, endpoint.enabled ? snapshots.filter(isWanted).length : 0] as const;
  });
  return new Map(counts.filter(([, count]) => count > 0));
}

/**
 * Plans one delivery for each snapshot and endpoint of its tenant that wants it. The first delivery
 * of a lane is leased to this process as far as there is capacity, so that it is sent without a
 * claim.
 */
export function planDeliveries(input: DeliveryPlanInput): DeliveryPlan {
  const { snapshots, endpoints, isInHand, capacityOf, takeBody, now } = input;
  const deliveries: NewDelivery[] = [];
  const excluded: (Lane & Pick<Delivery, "sequence">)[] = [];
  const lanes = new Set<string>();
  const leased = new Map<string, number>();
  for (const snapshot of snapshots) {
    for (const endpoint of endpoints) {
      if (endpoint.tenantId === snapshot.tenantId) plan(snapshot, endpoint);
    }
  }
  return { deliveries, excluded };

  function plan(snapshot: Snapshot, endpoint: Endpoint): void {
    const { tenantId, documentId, sequence } = snapshot;
    const lane = { tenantId, documentId, endpointId: endpoint.endpointId };
    if (!wants(endpoint, snapshot)) {
      // Only sequences above 1 can have older deliveries in the lane.
      if (sequence > 1) excluded.push({ ...lane, sequence });
      return;
    }
    const webhookId = webhookIdOf(snapshot);
    const deliveryId = deliveryIdOf(endpoint, webhookId);
    const bodyBytes = bodyBytesOf(snapshot);
    const names = { ...lane, deliveryId, webhookId, signingNumber: 1, sequence };
    const delivery = { ...names, createdAt: now, bodyBytes, snapshot: factsOf(snapshot) };
    deliveries.push({ ...delivery, standing: standingOf(delivery, endpoint) });
  }

  function standingOf(delivery: Delivery, endpoint: Endpoint): NewDelivery["standing"] {
    const key = laneKey(delivery);
    if (lanes.has(key) || isInHand(delivery)) return "behind";
    lanes.add(key);
    const count = leased.get(endpoint.endpointId) ?? 0;
    if (count >= capacityOf(endpoint) || !takeBody(delivery)) return "due";
    leased.set(endpoint.endpointId, count + 1);
    return "leased";
  }
}
