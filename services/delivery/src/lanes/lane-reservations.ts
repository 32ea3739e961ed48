import type { BodyBudget, WithBody } from "./body-budget.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";

/** Lanes of an endpoint that are about to be stored. */
interface WantedLanes {
  readonly queue: EndpointQueue;
  readonly count: number;
}

/** Capacity that is reserved until disposal. */
export interface Reservation extends Disposable {
  /** Number of lanes of an endpoint that may be leased. */
  of(endpointId: string): number;
  /**
   * Reserves memory for the body of a lane that is about to be leased. @returns whether there was
   * enough
   */
  takeBody(delivery: WithBody): boolean;
}

interface Waiting {
  readonly wanted: readonly WantedLanes[];
  readonly grant: () => void;
}

/**
 * Longest time that a batch of ingest waits for capacity. Meanwhile it keeps one of the slots for
 * bursts (`burstBatchesMax`), so other tenants' bursts may wait, too.
 */
const waitMsMax = 500;
/** Interval of the check whether the endpoints that a batch waits for still answer. */
const lookMs = 100;

/**
 * Grants capacity to ingest, first to the batch that has waited longest. A lane that is stored with
 * a lease is sent without a claim, so a burst waits for capacity at quick endpoints. It does not
 * wait for other endpoints, which would take too long.
 */
export class LaneReservations {
  readonly #bodies: Pick<BodyBudget, "hold">;
  readonly #waiting = new Set<Waiting>();

  constructor(bodies: Pick<BodyBudget, "hold">) {
    this.#bodies = bodies;
  }

  /**
   * Reserves the free capacity. With `mayWait`, waits at most half a second until each quick
   * endpoint has capacity for all its wanted lanes, or all that it can have.
   */
  async reserve(wanted: readonly WantedLanes[], mayWait: boolean): Promise<Reservation> {
    if (!mayWait || (this.#waiting.size === 0 && hasCapacity(wanted))) return this.#grant(wanted);
    const { promise, resolve } = Promise.withResolvers<Reservation>();
    const waiting = { wanted, grant: () => this.#end(waiting, resolve) };
    this.#waiting.add(waiting);
    const late = setTimeout(waiting.grant, waitMsMax);
    const look = setInterval(() => this.noteCapacity(), lookMs);
    this.noteCapacity();
    return promise.finally(() => {
      clearTimeout(late);
      clearInterval(look);
    });
  }

  /**
   * Ends the wait of batches for which there is capacity now (see `reserve`). Call this when lanes
   * have left.
   */
  noteCapacity(): void {
    for (const { wanted, grant: grantNow } of this.#waiting) if (hasCapacity(wanted)) grantNow();
  }

  /** Ends the wait of all batches, which get the capacity that is free. */
  end(): void {
    for (const { grant: grantNow } of this.#waiting) grantNow();
  }

  #end(waiting: Waiting, resolve: (reservation: Reservation) => void): void {
    if (this.#waiting.delete(waiting)) resolve(this.#grant(waiting.wanted));
  }

  #grant(wanted: readonly WantedLanes[]): Reservation {
    const now = Date.now();
    const granted = new Map(wanted.map(({ queue, count }) => [queue, queue.reserve(count, now)]));
    const byId = new Map(Array.from(granted, ([{ endpointId }, share]) => [endpointId, share]));
    const bodies = this.#bodies.hold();
    return {
      of: (endpointId) => byId.get(endpointId) ?? 0,
      takeBody: (delivery) => bodies.take(delivery),
      [Symbol.dispose]() {
        bodies[Symbol.dispose]();
        for (const [queue, share] of granted) queue.unreserve(share);
        granted.clear();
      },
    };
  }
}

function hasCapacity(wanted: readonly WantedLanes[]): boolean {
  const now = Date.now();
  return wanted.every(
    ({ queue, count }) => !queue.isQuick(now) || queue.capacity(now) >= Math.min(count, queue.depth(now)),
  );
}
