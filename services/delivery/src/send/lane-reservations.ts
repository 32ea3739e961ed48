import type { EndpointLanes } from "./endpoint-lanes.ts";

/** Lanes of an endpoint that are about to be stored. */
export interface WantedLanes {
  readonly lanes: EndpointLanes;
  readonly count: number;
}

/** Capacity that nobody else gets until it is disposed. */
export interface Reservation extends Disposable {
  /** How many lanes of an endpoint may be leased. */
  of(endpointId: string): number;
}

interface Waiting {
  readonly wanted: readonly WantedLanes[];
  readonly grant: () => void;
}

/** How long a batch of ingest waits for room. No batch of another tenant waits behind it. */
const waitMsMax = 500;
/** How often it looks whether the endpoint still answers. */
const lookMs = 100;

/**
 * Hands out capacity to ingest, first come, first served. A lane that is stored with a lease is sent
 * without a claim, so a burst waits for endpoints that are quick, and for no others.
 */
export class LaneReservations {
  readonly #waiting = new Set<Waiting>();

  /**
   * Reserves what there is. If it may wait, then once each quick endpoint has room for all, or after
   * half a second.
   */
  async reserve(wanted: readonly WantedLanes[], mayWait: boolean): Promise<Reservation> {
    if (!mayWait || (this.#waiting.size === 0 && hasRoom(wanted))) return grant(wanted);
    const { promise, resolve } = Promise.withResolvers<Reservation>();
    const waiting = { wanted, grant: () => this.#end(waiting, resolve) };
    this.#waiting.add(waiting);
    const late = setTimeout(waiting.grant, waitMsMax);
    const look = setInterval(() => this.noteRoom(), lookMs);
    this.noteRoom();
    return promise.finally(() => {
      clearTimeout(late);
      clearInterval(look);
    });
  }

  /** Call it when lanes have left, or when an endpoint is no longer quick. */
  noteRoom(): void {
    for (const { wanted, grant: grantNow } of this.#waiting) if (hasRoom(wanted)) grantNow();
  }

  /** Lets nobody wait any more. */
  end(): void {
    for (const { grant: grantNow } of this.#waiting) grantNow();
  }

  #end(waiting: Waiting, resolve: (reservation: Reservation) => void): void {
    if (this.#waiting.delete(waiting)) resolve(grant(waiting.wanted));
  }
}

/** Whether nothing is won by waiting. */
function hasRoom(wanted: readonly WantedLanes[]): boolean {
  const now = Date.now();
  return wanted.every(
    ({ lanes, count }) => !lanes.isQuick(now) || lanes.capacity(now) >= Math.min(count, lanes.depth(now)),
  );
}

function grant(wanted: readonly WantedLanes[]): Reservation {
  const now = Date.now();
  const granted = new Map<EndpointLanes, number>();
  for (const { lanes, count } of wanted) {
    const share = Math.min(count, lanes.capacity(now));
    lanes.reserved += share;
    granted.set(lanes, share);
  }
  const byId = new Map(Array.from(granted, ([{ endpointId }, share]) => [endpointId, share]));
  return {
    of: (endpointId) => byId.get(endpointId) ?? 0,
    [Symbol.dispose]() {
      for (const [lanes, share] of granted) lanes.reserved -= share;
      granted.clear();
    },
  };
}
