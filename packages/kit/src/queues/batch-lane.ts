import type { BatchItem } from "./batch-item.ts";
import { TurnQueue } from "./turn-queue.ts";

/** How large batches may be, and how many of a lane may be out. */
export interface LaneBounds {
  readonly itemsMax: number;
  readonly bytesMax: number;
  readonly inFlightMax: number;
  /** How long a batch is out until it is late; Infinity for never. */
  readonly lateMs: number;
  /** Most batches that may be out, late ones included. */
  readonly outMax: number;
  /** Least time between the starts of two batches that are not full. */
  readonly spacingMs: number;
}

/**
 * The items of one lane that wait, and its batches that are out. A batch that is late no longer
 * holds back the next one, so that a server that hangs holds up only the batches it has.
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

  /** Whether nothing waits, nothing is out, and the next batch may start at once. */
  get isIdle(): boolean {
    return this.#waiting.isEmpty && this.#inTime + this.#late === 0 && !this.#rest;
  }

  /** Whether a batch waits that may be sent. */
  get maySend(): boolean {
    const { inFlightMax, outMax, itemsMax } = this.#bounds;
    if (this.#waiting.isEmpty || (this.#rest && this.#waitingCount < itemsMax)) return false;
    return this.#inTime < inFlightMax && this.#inTime + this.#late < outMax;
  }

  push(entry: BatchItem<Item, Result>): void {
    this.#waiting.push(entry.turn, entry);
    this.#waitingCount += 1;
  }

  /** Removes an item that waits. Returns false when it does not. */
  remove(entry: BatchItem<Item, Result>): boolean {
    const isRemoved = this.#waiting.remove(entry.turn, entry);
    if (isRemoved) this.#waitingCount -= 1;
    return isRemoved;
  }

  /** Puts items without a result back in front of all others, in their order. */
  putBack(entries: readonly BatchItem<Item, Result>[]): void {
    for (const entry of entries.toReversed()) {
      if (entry.isSettled) continue;
      this.#waiting.putBack(entry.turn, entry);
      this.#waitingCount += 1;
    }
  }

  /** Takes the items of the next batch. */
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
   * Lets no batch start that is not full, until `spacingMs` from now.
   *
   * @param onEnd called then
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

  /**
   * Notes that a batch is out, until the returned function is called.
   *
   * @param onLate called when the batch is late
   */
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
