import { type Lane, laneKey } from "../domain/delivery.ts";
import { subjectOf } from "../domain/advance-lane.ts";
import type { LeasedLane, SendableRow } from "../store/delivery-rows.ts";
import type { BodyBudget } from "./body-budget.ts";

/**
 * The leased lanes of one endpoint. A lane is in hand from its lease until its attempt is journaled
 * or its lease is released; memory for its body is reserved meanwhile.
 */
export class LanesInHand {
  readonly #bodies: Pick<BodyBudget, "take" | "release">;
  /** Waiting lanes, in the order of their arrival. */
  readonly #ready: LeasedLane[] = [];
  /** Lanes that wait, are in flight or are being journaled. */
  readonly #inHand = new Map<string, LeasedLane>();

  constructor(bodies: Pick<BodyBudget, "take" | "release">) {
    this.#bodies = bodies;
  }

  get isEmpty(): boolean {
    return this.#inHand.size === 0;
  }

  get readyCount(): number {
    return this.#ready.length;
  }

  has(lane: Lane): boolean {
    return this.#inHand.has(laneKey(lane));
  }

  /**
   * Adds a leased lane. When this process has lost an earlier lease of the lane and claimed the
   * lane again, the new lease replaces the old one. If an attempt under the old lease is still in
   * flight, the lane is not queued, but waits until the new lease ends: otherwise the webhook would
   * be sent twice at the same time.
   *
   * @returns false when its body does not fit; release the lease then
   */
  push(lane: LeasedLane): boolean {
    const row = rowOf(lane);
    if (!row) return true;
    const key = laneKey(row);
    const earlier = this.#inHand.get(key);
    const at = earlier ? this.#ready.indexOf(earlier) : this.#ready.length;
    if (at === -1) return true;
    if (!this.#bodies.take(row)) return false;
    if (earlier) this.#releaseBody(earlier);
    this.#inHand.set(key, lane);
    this.#ready[at] = lane;
    return true;
  }

  /** Takes out waiting lanes. They stay in hand. */
  start(count: number): LeasedLane[] {
    return this.#ready.splice(0, count);
  }

  /** Takes out all waiting lanes but the first `butFirst`. The taken ones are no longer in hand. */
  takeOut(butFirst: number): LeasedLane[] {
    const taken = this.#ready.splice(butFirst);
    for (const lane of taken) this.release(lane);
    return taken;
  }

  /** Removes a lane that this process is done with, and frees its body's memory. */
  release(lane: LeasedLane): void {
    const row = rowOf(lane);
    if (row && this.#inHand.delete(laneKey(row))) this.#releaseBody(lane);
  }

  #releaseBody(lane: LeasedLane): void {
    const row = rowOf(lane);
    if (row) this.#bodies.release(row);
  }
}

/** The row that a lane sends next; undefined when it has none in memory. */
export function rowOf({ state }: LeasedLane): SendableRow | undefined {
  return subjectOf(state);
}
