import { LRUCache } from "lru-cache";

/** The first delay; it doubles each time that the body is still missing. */
const firstMs = 5_000;
const longestMs = 5 * 60_000;
/** Most remembered lanes. For a forgotten lane, the delays begin anew. */
const lanesMax = 1_000;

interface Missing {
  readonly endpointId: string;
  readonly delayMs: number;
  readonly until: number;
}

/** Lanes whose next body is unavailable, and when they are tried again. */
export class MissingBodies {
  readonly #missing = new LRUCache<string, Missing>({ max: lanesMax });

  /**
   * @param deliveryId of the lane's bearer (see `DeliveryRow`)
   * @returns when to try again, in milliseconds since 1970
   */
  note(endpointId: string, deliveryId: string, now: number): number {
    const delayMs = Math.min(longestMs, 2 * (this.#missing.peek(deliveryId)?.delayMs ?? firstMs / 2));
    this.#missing.set(deliveryId, { endpointId, delayMs, until: now + delayMs });
    return now + delayMs;
  }

  /** The lanes of an endpoint that must still wait, as delivery ids of their bearers. */
  waitingOf(endpointId: string, now: number): string[] {
    const waiting = [...this.#missing.entries()].filter(
      ([, each]) => each.endpointId === endpointId && each.until > now,
    );
    return waiting.map(([deliveryId]) => deliveryId);
  }
}
