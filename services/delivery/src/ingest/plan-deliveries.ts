import { uuidv7 } from "@vidimus/kit/uuid";
import { type Endpoint, type LaneHead, laneKey, type OwedDelivery } from "../domain/delivery.ts";
import { type Reference, webhookIdOf } from "../domain/payload.ts";

/** What a plan is made from. */
export interface DeliveryPlanInput {
  /** Older before newer. */
  references: readonly Reference[];
  endpoints: readonly Endpoint[];
  /** Oldest pending delivery a lane, by lane key. */
  heads: ReadonlyMap<string, LaneHead>;
  /** How many deliveries this process can take on for an endpoint right now. */
  roomOf: (endpointId: string) => number;
  now: Date;
  leaseUntil: Date;
}

/**
 * One delivery for every snapshot and endpoint of its tenant. A delivery with nothing before it in its lane is leased
 * at birth as far as there is room, so that its first attempt costs no claim; one with something before it waits.
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
    // The same delivery may be its lane's head: then it is stored already, and this one is refused as known.
    if (head) return { ...owed, nextAttemptAt: head.nextAttemptAt > now ? head.nextAttemptAt : leaseUntil };
    const count = taken.get(endpointId) ?? 0;
    const room = count < input.roomOf(endpointId);
    heads.set(lane, { sequence: reference.sequence, nextAttemptAt: room ? leaseUntil : now });
    if (!room) return { ...owed, nextAttemptAt: now };
    taken.set(endpointId, count + 1);
    return { ...owed, nextAttemptAt: now, leaseUntil };
  }
}
