import type { Delivery, Lane } from "../domain/delivery.ts";
import { laneKey } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { type FeedSnapshot, snapshotKey } from "../domain/payload.ts";
import type { Reservation } from "../lanes/lane-reservations.ts";
import type { StoredPayload } from "../lanes/payload-cache.ts";
import type { Sender } from "../lanes/sender.ts";
import { type LeasedLane, type NewDelivery, toLeasedLane, toNewSendable, wholeLane } from "../store/delivery-rows.ts";
import type { DeliveryStore, Stored } from "../store/delivery-store.ts";
import type { LaneEndings } from "../store/lane-endings.ts";
import type { Arrival, LaneStore } from "../store/lane-store.ts";
import { countWanted, planDeliveries } from "./plan-deliveries.ts";
import type { SignResult } from "./sign-snapshots.ts";

export interface StoreDeliveriesDeps {
  readonly deliveries: Pick<DeliveryStore, "insert" | "delete">;
  readonly laneEndings: Pick<LaneEndings, "supersede">;
  readonly lanes: Pick<LaneStore, "appointBearers" | "expedite" | "withOlder" | "release">;
  readonly sender: Pick<Sender, "reserve" | "isInHand" | "take" | "wake">;
  readonly leaseMs: number;
}

/** Snapshots whose deliveries are to be stored. */
interface ToStore {
  /** Older before newer. */
  readonly snapshots: readonly FeedSnapshot[];
  /** Of their tenants. */
  readonly endpoints: readonly Endpoint[];
  /** Whether to wait for room at endpoints that are quick, so that their deliveries need no claim. */
  readonly mayWait: boolean;
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
  { snapshots, endpoints, mayWait }: ToStore,
  signed: Promise<unknown>,
): Promise<StoredDeliveries> {
  const room = await deps.sender.reserve(countWanted(snapshots, endpoints), mayWait);
  try {
    const stored = await store(deps, snapshots, endpoints, room);
    signed.catch(() => {
      room[Symbol.dispose]();
      deps.lanes.release(stored.lanes, new Date(Date.now() + unsignedMs)).catch(() => {});
    });
    return {
      async send(results) {
        try {
          await handOver(deps, stored, results);
        } finally {
          room[Symbol.dispose]();
        }
      },
    };
  } catch (error) {
    room[Symbol.dispose]();
    throw error;
  }
}

/** What was stored. */
interface StoredLanes {
  readonly deliveries: readonly NewDelivery[];
  /** The lanes that this process has leased. */
  readonly lanes: readonly LeasedLane[];
  /** The endpoints that were disabled, by id. */
  readonly disabled: ReadonlySet<string>;
  /** Whether lanes of enabled endpoints are due that nobody has leased. */
  readonly isDue: boolean;
}

async function store(
  deps: StoreDeliveriesDeps,
  snapshots: readonly FeedSnapshot[],
  endpoints: readonly Endpoint[],
  room: Reservation,
): Promise<StoredLanes> {
  const now = new Date();
  const leaseUntil = new Date(now.getTime() + deps.leaseMs);
  const isInHand = (lane: Lane) => deps.sender.isInHand(lane);
  const capacityOf = ({ endpointId }: Endpoint) => room.of(endpointId);
  const takeBody = (delivery: Delivery) => room.takeBody(delivery);
  const { deliveries, excluded } = planDeliveries({ snapshots, endpoints, isInHand, capacityOf, takeBody, now });
  const places = await deps.deliveries.insert(deliveries, leaseUntil);
  await deps.laneEndings.supersede(excluded, now);
  const stored = (place: Stored) => deliveries.filter((_, index) => places[index] === place);
  const leasedAtFirst = leasedLanes(stored("leased"), stored("behind"), leaseUntil);
  const withOlder = await deps.lanes.withOlder(leasedAtFirst);
  // Whoever claims them gets their older rows, too.
  await deps.lanes.release(withOlder, now);
  const lanes = leasedAtFirst.filter((lane) => !withOlder.includes(lane));
  const leased = new Set(lanes.flatMap(({ state }) => state.rows.map(({ deliveryId }) => deliveryId)));
  const behind = stored("behind").filter(({ deliveryId }) => !leased.has(deliveryId));
  // Before the next snapshot of a document is taken in: a lane whose bearer has just ended gets one
  // here, or the next snapshot would become the bearer and go first.
  const expedited = [...behind, ...asKnown(stored("known"), snapshots)];
  await deps.lanes.expedite(expedited, now);
  const disabled = new Set(endpoints.flatMap(({ enabled, endpointId }) => (enabled ? [] : endpointId)));
  const due = [...expedited, ...stored("due")];
  const isDue = withOlder.length > 0 || due.some(({ endpointId }) => !disabled.has(endpointId));
  return { deliveries, lanes, disabled, isDue };
}

/** Hands over to sending what was signed. */
async function handOver(
  { deliveries, lanes, sender }: StoreDeliveriesDeps,
  stored: StoredLanes,
  results: readonly SignResult[],
): Promise<void> {
  const sendable = await withoutUnsendable({ deliveries, lanes }, stored, results);
  sender.take(sendable, payloadsOf(stored, results));
  if (stored.isDue || sendable.length < stored.lanes.length) sender.wake();
}

/** The payloads for the attempts that come. */
function payloadsOf({ deliveries, disabled }: StoredLanes, results: readonly SignResult[]): StoredPayload[] {
  const uses = new Map<string, number>();
  for (const each of deliveries) {
    const key = snapshotKey(each);
    if (!disabled.has(each.endpointId)) uses.set(key, (uses.get(key) ?? 0) + 1);
  }
  return results.flatMap((result) => {
    const count = uses.get(snapshotKey(result.snapshot));
    if (!("payload" in result) || count === undefined) return [];
    return [{ reference: result.snapshot, payload: result.payload, uses: count }];
  });
}

/**
 * Deliveries that were known may be left from a process that died before it made their lanes due.
 * The lanes keep their backoff when they were attempted since the commit.
 */
function asKnown(known: readonly NewDelivery[], snapshots: readonly FeedSnapshot[]): Arrival[] {
  if (known.length === 0) return [];
  const committedAt = new Map(snapshots.map((snapshot) => [snapshotKey(snapshot), snapshot.committedAt]));
  return known.map((each) => {
    const { tenantId, documentId, endpointId, createdAt } = each;
    return { tenantId, documentId, endpointId, knownSince: committedAt.get(snapshotKey(each)) ?? createdAt };
  });
}

/** The lanes that this process has leased, with the rows that were stored behind together. */
function leasedLanes(bearers: readonly NewDelivery[], behind: readonly NewDelivery[], leaseUntil: Date): LeasedLane[] {
  const rowsByLane = Map.groupBy([...bearers, ...behind], laneKey);
  return bearers.map((bearer) => {
    const rows = (rowsByLane.get(laneKey(bearer)) ?? []).map(toNewSendable);
    return toLeasedLane({ _id: bearer.deliveryId, generation: 1 }, wholeLane(rows), {
      leaseUntil,
      dueAt: bearer.createdAt,
    });
  });
}

/** Deletes the deliveries of snapshots that are never sent. Their lanes go on without them. */
async function withoutUnsendable(
  { deliveries, lanes }: Pick<StoreDeliveriesDeps, "deliveries" | "lanes">,
  stored: StoredLanes,
  results: readonly SignResult[],
): Promise<readonly LeasedLane[]> {
  const names = results.flatMap((result) => ("unsendable" in result ? snapshotKey(result.snapshot) : []));
  const unsendable = new Set(names);
  if (unsendable.size === 0) return stored.lanes;
  const never = stored.deliveries.filter((each) => unsendable.has(snapshotKey(each)));
  const ids = new Set(never.map(({ deliveryId }) => deliveryId));
  const { touched = [], others = [] } = Object.groupBy(stored.lanes, ({ state }) =>
    state.rows.some(({ deliveryId }) => ids.has(deliveryId)) ? "touched" : "others",
  );
  await lanes.release(touched, new Date());
  await deliveries.delete([...ids]);
  await lanes.appointBearers(never, new Date());
  return others;
}
