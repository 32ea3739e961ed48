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
import type { SignResult } from "../snapshots/sign-snapshots.ts";

export interface StoreDeliveriesDeps {
  readonly deliveries: Pick<DeliveryStore, "insert" | "delete">;
  readonly laneEndings: Pick<LaneEndings, "supersede">;
  readonly lanes: Pick<LaneStore, "appointBearers" | "expedite" | "withOlder" | "release">;
  readonly sender: Pick<Sender, "reserve" | "isInHand" | "take" | "wake">;
  readonly leaseMs: number;
}

interface ToStore {
  /** Older before newer. */
  readonly snapshots: readonly FeedSnapshot[];
  /** Of the snapshots' tenants. */
  readonly endpoints: readonly Endpoint[];
  /** Whether to wait for capacity at quick endpoints (`isQuick`), which saves claims. */
  readonly mayWait: boolean;
}

/** Stored deliveries whose snapshots may not be signed yet. */
interface StoredDeliveries {
  /**
   * Deletes the deliveries of snapshots that can never be sent, and passes the leased lanes without
   * such a delivery to sending.
   */
  send(results: readonly SignResult[]): Promise<void>;
}

/**
 * Lanes whose snapshots could not be signed are due after this time. The reconciler mostly ingests
 * these snapshots again earlier, which makes the lanes due.
 */
const unsignedMs = 5_000;

/**
 * Stores the deliveries of snapshots while the snapshots are being signed. When signing fails, the
 * leases of their lanes are released.
 */
export async function storeDeliveries(
  deps: StoreDeliveriesDeps,
  { snapshots, endpoints, mayWait }: ToStore,
  signed: Promise<unknown>,
): Promise<StoredDeliveries> {
  const reservation = await deps.sender.reserve(countWanted(snapshots, endpoints), mayWait);
  try {
    const stored = await store(deps, snapshots, endpoints, reservation);
    signed.catch(() => {
      reservation[Symbol.dispose]();
      deps.lanes.release(stored.lanes, new Date(Date.now() + unsignedMs)).catch(() => {});
    });
    return {
      async send(results) {
        try {
          await handOver(deps, stored, results);
        } finally {
          reservation[Symbol.dispose]();
        }
      },
    };
  } catch (error) {
    reservation[Symbol.dispose]();
    throw error;
  }
}

interface StoredLanes {
  readonly deliveries: readonly NewDelivery[];
  /** Leased by this process, with all their undelivered rows. */
  readonly lanes: readonly LeasedLane[];
  /** Ids of the disabled endpoints. */
  readonly disabled: ReadonlySet<string>;
  /** Whether lanes of enabled endpoints may be due that nobody has leased. */
  readonly isDue: boolean;
}

async function store(
  deps: StoreDeliveriesDeps,
  snapshots: readonly FeedSnapshot[],
  endpoints: readonly Endpoint[],
  reservation: Reservation,
): Promise<StoredLanes> {
  const now = new Date();
  const leaseUntil = new Date(now.getTime() + deps.leaseMs);
  const isInHand = (lane: Lane) => deps.sender.isInHand(lane);
  const capacityOf = ({ endpointId }: Endpoint) => reservation.of(endpointId);
  const takeBody = (delivery: Delivery) => reservation.takeBody(delivery);
  const { deliveries, excluded } = planDeliveries({ snapshots, endpoints, isInHand, capacityOf, takeBody, now });
  const standings = await deps.deliveries.insert(deliveries, leaseUntil);
  await deps.laneEndings.supersede(excluded, now);
  const stored = (standing: Stored) => deliveries.filter((_, index) => standings[index] === standing);
  const leasedAtFirst = leasedLanes(stored("leased"), stored("behind"), leaseUntil);
  const withOlder = await deps.lanes.withOlder(leasedAtFirst);
  // These lanes have older rows that are not in memory, so their leases end, and a claim loads the
  // older rows.
  await deps.lanes.release(withOlder, now);
  const lanes = leasedAtFirst.filter((lane) => !withOlder.includes(lane));
  const leased = new Set(lanes.flatMap(({ state }) => state.rows.map(({ deliveryId }) => deliveryId)));
  const behind = stored("behind").filter(({ deliveryId }) => !leased.has(deliveryId));
  const expedited = [...behind, ...asKnown(stored("known"), snapshots)];
  // Awaited, so that the next snapshot of a document is stored only afterwards. When a lane's bearer
  // (the row with the lane's lease and due time) has just ended, `expedite` makes the lane's oldest
  // row the bearer. The next snapshot's row would become it, and its lease would have to end.
  await deps.lanes.expedite(expedited, now);
  const disabled = new Set(endpoints.flatMap(({ enabled, endpointId }) => (enabled ? [] : endpointId)));
  const due = [...expedited, ...stored("due")];
  const isDue = withOlder.length > 0 || due.some(({ endpointId }) => !disabled.has(endpointId));
  return { deliveries, lanes, disabled, isDue };
}

async function handOver(
  { deliveries, lanes, sender }: StoreDeliveriesDeps,
  stored: StoredLanes,
  results: readonly SignResult[],
): Promise<void> {
  const sendable = await withoutUnsendable({ deliveries, lanes }, stored, results);
  sender.take(sendable, payloadsOf(stored, results));
  if (stored.isDue || sendable.length < stored.lanes.length) sender.wake();
}

/**
 * The payloads that attempts will need, each with its number of deliveries to enabled endpoints.
 */
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
 * Deliveries that were stored by an earlier ingest, as arrivals: that ingest's process may have
 * died before it expedited their lanes. Lanes that were attempted since the snapshot's commit keep
 * their backoff.
 */
function asKnown(known: readonly NewDelivery[], snapshots: readonly FeedSnapshot[]): Arrival[] {
  if (known.length === 0) return [];
  const committedAt = new Map(snapshots.map((snapshot) => [snapshotKey(snapshot), snapshot.committedAt]));
  return known.map((each) => {
    const { tenantId, documentId, endpointId, createdAt } = each;
    return { tenantId, documentId, endpointId, knownSince: committedAt.get(snapshotKey(each)) ?? createdAt };
  });
}

/** The lanes that this process has leased, with the rows that were stored behind their bearers. */
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

/**
 * Deletes the deliveries of snapshots that can never be sent, and releases their lanes.
 *
 * @returns the other lanes
 */
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
