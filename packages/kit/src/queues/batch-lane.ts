import type { BatchItem } from "./batch-item.ts";
import { TurnQueue } from "../fair/turn-queue.ts";

export interface LaneBounds {
  readonly itemsMax: number;
  readonly bytesMax: number;
  readonly inFlightMax: number;
  /** Milliseconds after which a running batch is late; Infinity for never. */
  readonly lateMs: number;
  /** Most batches that may run, late ones included. */
  readonly outMax: number;
  /** Least time from the start of a batch to the start of a next one that is not full. */
  readonly spacingMs: number;
}

/**
 * The waiting items of one lane, and its running batches. While fewer than `outMax` batches run, a
 * late one does not hold back the next one, so a server that hangs delays the next batch by at most
 * `lateMs`.
 */
export class BatchLane<Item, Result> {
  readonly #bounds: LaneBounds;
  readonly #waiting = new TurnQueue<BatchItem<Item, Result>>();
  #waitingCount = 0;
  #inTime = 0;
  #late = 0;
  #rest: NodeJS.Timeout | undefined;

  constructor(bounds: LaneBounds) {
    this.#bounds = bounds;
  }

  /** Whether the lane may be forgotten: nothing waits or runs, and no spacing is left to keep. */
  get isIdle(): boolean {
    return this.#waiting.isEmpty && this.#inTime + this.#late === 0 && !this.#rest;
  }

  get maySend(): boolean {
    const { inFlightMax, outMax, itemsMax } = this.#bounds;
    if (this.#waiting.isEmpty || (this.#rest && this.#waitingCount < itemsMax)) return false;
    return this.#inTime < inFlightMax && this.#inTime + this.#late < outMax;
  }

  push(entry: BatchItem<Item, Result>): void {
    this.#waiting.push(entry.turn, entry);
    this.#waitingCount += 1;
  }

  /** @returns false when the item does not wait */
  remove(entry: BatchItem<Item, Result>): boolean {
    const isRemoved = this.#waiting.remove(entry.turn, entry);
    if (isRemoved) this.#waitingCount -= 1;
    return isRemoved;
  }

  /**
   * Puts the entries that have no result or error yet in front of the waiting items with the same
   * turn, in the given order, and their turns in front of the other ones.
   */
  putBack(entries: readonly BatchItem<Item, Result>[]): void {
    for (const entry of entries.toReversed()) {
      if (entry.isSettled) continue;
      this.#waiting.putBack(entry.turn, entry);
      this.#waitingCount += 1;
    }
  }

  /** Removes and returns the items of the next batch. */
  next(): BatchItem<Item, Result>[] {
    const { itemsMax, bytesMax } = this.#bounds;
    const batch: BatchItem<Item, Result>[] = [];
    let bytes = 0;
    for (let entry = this.#waiting.peek(); entry && batch.length < itemsMax; entry = this.#waiting.peek()) {
      bytes += entry.bytes;
      if (batch.length > 0 && bytes > bytesMax) break;
      this.#waiting.shift();
      batch.push(entry);
    }
    this.#waitingCount -= batch.length;
    return batch;
  }

  /**
   * Until `spacingMs` from now only full batches start.
   *
   * @param onEnd called at the end of that time
   */
  rest(onEnd: () => void): void {
    const { spacingMs } = this.#bounds;
    if (spacingMs === 0) return;
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      onEnd();
    }, spacingMs);
  }

  /** Counts a batch as running until the returned function is called. */
  hold(onLate: () => void): () => void {
    const { lateMs } = this.#bounds;
    this.#inTime += 1;
    let isLate = false;
    const beLate = () => {
      isLate = true;
      this.#inTime -= 1;
      this.#late += 1;
      onLate();
    };
    const timer = lateMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(beLate, lateMs);
    return () => {
      clearTimeout(timer);
      if (isLate) this.#late -= 1;
      else this.#inTime -= 1;
    };
  }
}
