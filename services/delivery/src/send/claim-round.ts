import { type HeldDelivery, type LaneHead, laneKey } from "../domain/delivery.ts";
import type { DeliveryQueue, DueDelivery } from "../store/delivery-queue.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";

export interface ClaimDeps {
  queue: Pick<DeliveryQueue, "schedule" | "due" | "claim" | "putOff">;
  deliveries: Pick<DeliveryStore, "laneHeads" | "advance">;
  /** How many more deliveries to an endpoint this process may hold. */
  roomOf: (endpointId: string) => number;
  leaseMs: number;
}

/** What a round came to. */
export interface ClaimRound {
  held: HeldDelivery[];
  /** Endpoints that may have more due than there was room for. */
  starved: string[];
  /** When the next delivery comes due that is not due yet. */
  nextAt: Date | undefined;
}

/** How soon a delivery behind another one is looked at again; normally the one before wakes it when it is done. */
const behindMs = 1_000;

/** Takes the leases of what is due, endpoint by endpoint as far as there is room, and of the oldest of each lane only. */
export async function claimRound(deps: ClaimDeps): Promise<ClaimRound> {
  const now = new Date();
  const schedule = await deps.queue.schedule();
  const future = schedule.filter(({ nextAttemptAt }) => nextAttemptAt > now);
  const nextAt = future.reduce<Date | undefined>(
    (earliest, { nextAttemptAt }) => (earliest && earliest < nextAttemptAt ? earliest : nextAttemptAt),
    undefined,
  );
  const dueNow = schedule.filter(({ nextAttemptAt }) => nextAttemptAt <= now).map(({ endpointId }) => endpointId);
  const rounds = await Promise.all(dueNow.map((endpointId) => claimOf(deps, endpointId, now)));
  return {
    held: rounds.flatMap(({ held }) => held),
    starved: dueNow.filter((_, index) => rounds[index]?.starved),
    nextAt,
  };
}

async function claimOf(deps: ClaimDeps, endpointId: string, now: Date) {
  const room = deps.roomOf(endpointId);
  if (room === 0) return { held: [], starved: true };
  const due = await deps.queue.due(endpointId, now, room);
  const heads = await deps.deliveries.laneHeads(due);
  const { ready, waiting } = sortOut(due, heads, now);
  await deps.queue.putOff(waiting);
  const behind = waiting.map(({ row }) => row);
  await deps.deliveries.advance(behind, new Date());
  const held = await deps.queue.claim(ready, new Date(Date.now() + deps.leaseMs));
  return { held, starved: due.length === room };
}

/** Ready are the heads of their lanes. Whoever stands behind one is put off until that one is tried again. */
function sortOut(due: readonly DueDelivery[], heads: ReadonlyMap<string, LaneHead>, now: Date) {
  const ready: DueDelivery[] = [];
  const waiting: { row: DueDelivery; until: Date }[] = [];
  for (const row of due) {
    const head = heads.get(laneKey(row));
    if (!head || head.sequence >= row.sequence) ready.push(row);
    else {
      const soon = now.getTime() + behindMs;
      waiting.push({ row, until: new Date(Math.max(head.nextAttemptAt.getTime(), soon)) });
    }
  }
  return { ready, waiting };
}
