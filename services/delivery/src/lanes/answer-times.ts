import { LRUCache } from "lru-cache";
import { meanAnswerMs } from "../domain/lease-ahead.ts";

const endpointsMax = 10_000;

/**
 * How long the last attempts at endpoints took, with the wait for their bodies. It is kept while an
 * endpoint has nothing to send, so that the next burst starts at the pace at which the last one
 * ended.
 */
export class AnswerTimes {
  readonly #meanMs = new LRUCache<string, number>({ max: endpointsMax });

  /** Mean time of an endpoint's last attempts, in milliseconds; undefined when none is known. */
  of(endpointId: string): number | undefined {
    return this.#meanMs.get(endpointId);
  }

  note(endpointId: string, tookMs: number): void {
    this.#meanMs.set(endpointId, meanAnswerMs(this.of(endpointId), tookMs));
  }
}
