import { LRUCache } from "lru-cache";
import { meanAnswerMs } from "../domain/lease-ahead.ts";

const endpointsMax = 10_000;

/**
 * For each endpoint, the mean duration of its last attempts, including the wait for bodies. The
 * mean is remembered while nothing is sent to the endpoint, so that the next burst starts at the
 * last pace.
 */
export class AnswerTimes {
  readonly #meanMs = new LRUCache<string, number>({ max: endpointsMax });

  /** In milliseconds; undefined when unknown. */
  of(endpointId: string): number | undefined {
    return this.#meanMs.get(endpointId);
  }

  note(endpointId: string, tookMs: number): void {
    this.#meanMs.set(endpointId, meanAnswerMs(this.of(endpointId), tookMs));
  }
}
