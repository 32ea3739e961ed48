import { uuidv7 } from "@vidimus/kit/ids";
import { type LaneHead, laneKey, type OwedDelivery } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { type Reference, webhookIdOf } from "../domain/payload.ts";

interface DeliveryPlanInput {
  /** Older before newer. */
  references: readonly Reference[];
  endpoints: readonly Endpoint[];
  /** The oldest pending delivery of each lane, by lane key. */
  heads: ReadonlyMap<string, LaneHead>;
  /** How many more deliveries to an endpoint this process may hold right now. */
  roomOf: (endpointId: string) => number;
  now: Date;
  leaseUntil: Date;
}

/**
 * Plans one delivery per snapshot and endpoint of its tenant. The first delivery of a lane gets a
 * lease as far as there is room, so that its first attempt needs no claim. A delivery behind
 * another one of its lane waits.
 */
export function planDeliveries(input: DeliveryPlanInput): OwedDelivery[] {
  const { references, endpoints, now, leaseUntil } = input;
  const heads = new Map(input.heads);
  const taken = new Map<string, number>();
  return references.flatMap((reference) =>
    endpoints
      .filter(({ tenantId }) => tenantId === reference.tenantId)
      .map(({ endpointId }) => plan(reference, endpointId)),
  );

  function plan(reference: Reference, endpointId: string): OwedDelivery {
    const lane = laneKey({ ...reference, endpointId });
    const owed = {
      ...reference,
      endpointId,
      deliveryId: uuidv7(),
      webhookId: webhookIdOf(reference),
      createdAt: now,
    };
    const head = heads.get(lane);
    // When the head is this same delivery, the insert is refused as a duplicate.
    if (head) return { ...owed, nextAttemptAt: head.nextAttemptAt > now ? head.nextAttemptAt : leaseUntil };
    const count = taken.get(endpointId) ?? 0;
    const room = count < input.roomOf(endpointId);
    heads.set(lane, { sequence: reference.sequence, nextAttemptAt: room ? leaseUntil : now });
    if (!room) return { ...owed, nextAttemptAt: now };
    taken.set(endpointId, count + 1);
    return { ...owed, nextAttemptAt: now, leaseUntil };
  }
}
