import type { Lane } from "../domain/delivery.ts";
import { laneKey } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { type FeedSnapshot, type Payload, snapshotKey } from "../domain/payload.ts";
import { type LeasedLane, type NewDelivery, toLeasedLane, toNewSendable, wholeLane } from "../store/delivery-rows.ts";
import type { DeliveryStore, Stored } from "../store/delivery-store.ts";
import type { LaneStore } from "../store/lane-store.ts";
import { planDeliveries } from "./plan-deliveries.ts";
import type { SignResult } from "./sign-snapshots.ts";

/** Attempts deliveries: `send/sender.ts`. */
interface Sending {
  /** How many more lanes of an endpoint it can lease right now. */
  capacityOf(endpoint: Endpoint): number;
  /** Whether it works on a lane. */
  isInHand(lane: Lane): boolean;
  /** Attempts lanes whose leases this process has. */
  take(lanes: readonly LeasedLane[], payloads: readonly Payload[], endpoints: readonly Endpoint[]): void;
  /** Looks for due lanes in the database. */
  wake(): void;
}

export interface StoreDeliveriesDeps {
  readonly deliveries: Pick<DeliveryStore, "insert" | "delete" | "supersede">;
  readonly lanes: Pick<LaneStore, "expedite" | "release" | "appointBearers">;
  readonly sender: Sending;
  readonly leaseMs: number;
  /** Releases what is held for an endpoint that was enabled meanwhile. */
  readonly releaseIfEnabled: (endpoint: Pick<Lane, "tenantId" | "endpointId">) => Promise<void>;
}

/** Deliveries that are stored and wait for their snapshots' signatures. */
interface StoredDeliveries {
  /** Hands over to sending what was signed, and deletes the deliveries of what never will be. */
  send(results: readonly SignResult[]): Promise<void>;
}

/** How soon lanes are tried again whose snapshots could not be signed. The walk comes back earlier. */
const unsignedMs = 5_000;

/**
 * Stores the deliveries of snapshots while they are being signed. When signing fails, their leases
 * end.
 */
export async function storeDeliveries(
  deps: StoreDeliveriesDeps,
  snapshots: readonly FeedSnapshot[],
  endpoints: readonly Endpoint[],
  signed: Promise<unknown>,
): Promise<StoredDeliveries> {
  const now = new Date();
  const leaseUntil = new Date(now.getTime() + deps.leaseMs);
  const { sender } = deps;
  const plan = planDeliveries({
    snapshots,
    endpoints,
    isInHand: (lane) => sender.isInHand(lane),
    capacityOf: (endpoint) => sender.capacityOf(endpoint),
    now,
  });
  const places = await deps.deliveries.insert(plan.deliveries, leaseUntil);
  await deps.deliveries.supersede(plan.excluded, now);
  await deps.lanes.appointBearers(plan.excluded, now);
  const held = new Map(
    plan.deliveries.flatMap((each, index) => (places[index] === "held" ? [[each.endpointId, each] as const] : [])),
  );
  for (const endpoint of held.values()) await deps.releaseIfEnabled(endpoint);
  const lanes = leasedLanes(plan.deliveries, places, leaseUntil);
  const leased = new Set(lanes.flatMap(({ state }) => state.rows.map(({ deliveryId }) => deliveryId)));
  const behind = arrivals(snapshots, plan.deliveries, places).filter(({ deliveryId }) => !leased.has(deliveryId));
  await deps.lanes.expedite(behind, now);
  const isDue = behind.length > 0 || places.includes("due");
  signed.catch(() => void deps.lanes.release(lanes, new Date(Date.now() + unsignedMs)).catch(() => {}));
  return {
    send: async (results) => {
      const payloads = results.flatMap((result) => ("payload" in result ? result.payload : []));
      const unsendable = results.flatMap((result) => ("unsendable" in result ? snapshotKey(result.snapshot) : []));
      const sendable = await withoutUnsendable(deps, plan.deliveries, lanes, new Set(unsendable));
      sender.take(sendable, payloads, endpoints);
      if (isDue || sendable.length < lanes.length) sender.wake();
    },
  };
}

/**
 * Deliveries whose lanes are to be made due. Those that were known may be left from a process that
 * died before it did so; their lanes keep their backoff when they were attempted since the commit.
 */
function arrivals(
  snapshots: readonly FeedSnapshot[],
  deliveries: readonly NewDelivery[],
  places: readonly Stored[],
): NewDelivery[] {
  const committedAt = new Map(snapshots.map((snapshot) => [snapshotKey(snapshot), snapshot.committedAt]));
  return deliveries.flatMap((delivery, index) => {
    const place = places[index];
    if (place === "behind") return delivery;
    return place === "known"
      ? { ...delivery, createdAt: committedAt.get(snapshotKey(delivery)) ?? delivery.createdAt }
      : [];
  });
}

/** The lanes that this process has leased, with the rows that were stored behind together. */
function leasedLanes(deliveries: readonly NewDelivery[], places: readonly Stored[], leaseUntil: Date): LeasedLane[] {
  const stored = deliveries.filter((_, index) => places[index] === "leased" || places[index] === "behind");
  const leased = new Set(deliveries.filter((_, index) => places[index] === "leased"));
  const rowsByLane = Map.groupBy(stored, laneKey);
  return [...leased].map((bearer) => {
    const rows = (rowsByLane.get(laneKey(bearer)) ?? []).map(toNewSendable);
    return toLeasedLane({ _id: bearer.deliveryId, generation: 1 }, wholeLane(rows), {
      leaseUntil,
      dueAt: bearer.createdAt,
    });
  });
}

/** Deletes the deliveries of snapshots that are never sent. Their lanes go on without them. */
async function withoutUnsendable(
  deps: StoreDeliveriesDeps,
  deliveries: readonly NewDelivery[],
  lanes: readonly LeasedLane[],
  unsendable: ReadonlySet<string>,
): Promise<readonly LeasedLane[]> {
  if (unsendable.size === 0) return lanes;
  const never = deliveries.filter((each) => unsendable.has(snapshotKey(each)));
  const ids = new Set(never.map(({ deliveryId }) => deliveryId));
  const { touched = [], others = [] } = Object.groupBy(lanes, ({ state }) =>
    state.rows.some(({ deliveryId }) => ids.has(deliveryId)) ? "touched" : "others",
  );
  await deps.lanes.release(touched, new Date());
  await deps.deliveries.delete([...ids]);
  await deps.lanes.appointBearers(never, new Date());
  return others;
}
