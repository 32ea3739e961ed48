import { TurnQueue } from "./turn-queue.ts";

interface BatcherOptions<Item, Result> {
  /**
   * Runs one batch and returns one result for each item, in the order of the items. A result that
   * is an `Error` rejects its item; a rejection rejects every item of the batch.
   */
  run(items: Item[]): Promise<(Result | Error)[]>;
  /** Most items in a batch. */
  itemsMax: number;
  /** Most bytes in a batch; an item larger than that goes alone. */
  bytesMax?: number;
  /** Size of an item in bytes; needed with `bytesMax`. */
  sizeOf?(item: Item): number;
  /** Batches of one lane that may run at once; 1 by default. */
  inFlightMax?: number;
  /** The lane of an item. A batch holds items of one lane only. By default there is one lane. */
  laneOf?(item: Item): string;
  /** Batches of all lanes that may run at once; the lanes take turns. No limit by default. */
  lanesInFlightMax?: number;
  /**
   * Allows `run` to return results for the first items only, at least one. The remaining items go
   * first in their lane's next batch.
   */
  partialAnswers?: boolean;
}

interface Waiting<Item, Result> {
  item: Item;
  bytes: number;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Creates a batcher. An idle batcher runs an item at once. While batches are in flight, arriving
 * items wait and run together when one returns. There is no timer, so batches grow only under load.
 *
 * @returns a function that takes one item and resolves with its result
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const batcher = new Batcher(options);
  return (item) => batcher.enqueue(item);
}

class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #waiting = new TurnQueue<Waiting<Item, Result>>();
  /** Batches in flight, by lane and in all. */
  readonly #inFlight = new Map<string, number>();
  #inFlightTotal = 0;
  #scheduled = false;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  enqueue(item: Item): Promise<Result> {
    const { laneOf = () => "", sizeOf = () => 0 } = this.#options;
    const lane = laneOf(item);
    return new Promise((resolve, reject) => {
      this.#waiting.push(lane, { item, bytes: sizeOf(item), resolve, reject });
      // Items that arrive in the same tick of the event loop go into the same batch.
      if (this.#scheduled || !this.#maySend(lane)) return;
      this.#scheduled = true;
      queueMicrotask(() => this.#flush());
    });
  }

  #flush(): void {
    this.#scheduled = false;
    for (let lane = this.#nextLane(); lane !== undefined; lane = this.#nextLane()) {
      void this.#send(
        lane,
        this.#waiting.take(lane, (line) => this.#fitting(line)),
      );
    }
  }

  #nextLane(): string | undefined {
    return this.#waiting.keys().find((lane) => this.#maySend(lane));
  }

  #maySend(lane: string): boolean {
    const { inFlightMax = 1, lanesInFlightMax = Number.POSITIVE_INFINITY } = this.#options;
    return this.#inFlightTotal < lanesInFlightMax && (this.#inFlight.get(lane) ?? 0) < inFlightMax;
  }

  /** Returns how many of a lane's first items make the next batch. */
  #fitting(line: readonly Waiting<Item, Result>[]): number {
    const { itemsMax, bytesMax = Number.POSITIVE_INFINITY } = this.#options;
    let bytes = 0;
    let count = 0;
    for (const entry of line) {
      bytes += entry.bytes;
      if (count === itemsMax || (count > 0 && bytes > bytesMax)) break;
      count += 1;
    }
    return count;
  }

  async #send(lane: string, batch: Waiting<Item, Result>[]): Promise<void> {
    this.#count(lane, 1);
    try {
      const results = await this.#run(batch);
      for (const [index, result] of results.entries()) finish(batch[index], result);
      this.#waiting.putBack(lane, batch.slice(results.length));
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    } finally {
      this.#count(lane, -1);
      this.#flush();
    }
  }

  async #run(batch: Waiting<Item, Result>[]): Promise<(Result | Error)[]> {
    const results = await this.#options.run(batch.map(({ item }) => item));
    const least = this.#options.partialAnswers ? 1 : batch.length;
    if (results.length >= least && results.length <= batch.length) return results;
    throw new Error(`a batch of ${batch.length} items was answered with ${results.length} results`);
  }

  #count(lane: string, change: 1 | -1): void {
    const count = (this.#inFlight.get(lane) ?? 0) + change;
    if (count === 0) this.#inFlight.delete(lane);
    else this.#inFlight.set(lane, count);
    this.#inFlightTotal += change;
  }
}

function finish<Item, Result>(entry: Waiting<Item, Result> | undefined, result: Result | Error): void {
  if (result instanceof Error) entry?.reject(result);
  else entry?.resolve(result);
}
