import { BatchItem } from "./batch-item.ts";
import { BatchLane, type LaneBounds } from "./batch-lane.ts";

interface BatcherOptions<Item, Result> {
  /**
   * Runs one batch and returns one result for each item, in the order of the items. A result that
   * is an `Error` rejects its item; a rejection rejects every item of the batch.
   *
   * @param leftMs milliseconds until the deadline of the newest item; Infinity without `deadline`
   */
  run(items: Item[], leftMs: number): Promise<(Result | Error)[]>;
  itemsMax: number;
  /** Most bytes in a batch; a larger item gets a batch of its own. */
  bytesMax?: number;
  /** Size of an item in bytes; needed with `bytesMax`. */
  sizeOf?(item: Item): number;
  /** Batches of one lane that may run at once; 1 by default. Late ones do not count. */
  inFlightMax?: number;
  /** A batch holds items of one lane only. By default there is one lane. */
  laneOf?(item: Item): string;
  /**
   * Least milliseconds between the starts of two batches of a lane; 0 by default. The first item of
   * an idle lane and full batches start at once. Meant for items whose callers can wait.
   */
  spacingMsOf?(lane: string): number;
  /**
   * Batches of all lanes that may run at once, late ones included; the lanes take turns. No limit
   * by default.
   */
  lanesInFlightMax?: number;
  /**
   * Key by which items of one lane take turns, for example their tenant. By default they keep their
   * order.
   */
  turnOf?(item: Item): string;
  /** A late batch no longer holds back the next one of its lane. By default none is late. */
  late?: {
    /** Milliseconds since the batch started. */
    readonly afterMs: number;
    /** Most batches of one lane that may run, late ones included. */
    readonly outMax: number;
    onLate?(items: readonly Item[]): void;
  };
  /** Rejects an item that has no result in time, counted from its arrival. */
  deadline?: {
    readonly ms: number;
    /**
     * Makes the error. `wasSent` is false when no running batch has the item; the item is then not
     * sent any more.
     */
    error(wasSent: boolean): Error;
  };
  /**
   * Allows `run` to return results for the first items only, at least one. The items without a
   * result come first in the next batch of their lane; with `turnOf`, the keys still take turns.
   */
  partialAnswers?: boolean;
}

/**
 * An idle batcher runs an item at once. While the allowed number of batches runs, arriving items
 * wait; they run together when one of those batches ends or is late. Without a spacing no item
 * waits for others to arrive, so batches grow only under load.
 *
 * @returns a function that takes one item and resolves with its result
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const batcher = new Batcher(options);
  return (item) => batcher.enqueue(item);
}

class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #bounds: Omit<LaneBounds, "spacingMs">;
  /** Lanes that are not idle, in the order of their turns. */
  readonly #lanes = new Map<string, BatchLane<Item, Result>>();
  #inFlight = 0;
  #scheduled = false;

  constructor(options: BatcherOptions<Item, Result>) {
    const { itemsMax, bytesMax = Number.POSITIVE_INFINITY, inFlightMax = 1, late } = options;
    const { afterMs: lateMs = Number.POSITIVE_INFINITY, outMax = inFlightMax } = late ?? {};
    this.#options = options;
    this.#bounds = { itemsMax, bytesMax, inFlightMax, lateMs, outMax };
  }

  enqueue(item: Item): Promise<Result> {
    const { laneOf, turnOf, sizeOf, deadline } = this.#options;
    const name = laneOf?.(item) ?? "";
    const lane = this.#lanes.get(name) ?? this.#openLane(name);
    const entry = new BatchItem<Item, Result>(item, sizeOf?.(item) ?? 0, turnOf?.(item) ?? "");
    lane.push(entry);
    if (deadline) entry.startDeadline(deadline.ms, () => this.#expire(name, lane, entry, deadline.error));
    // The batch starts in a microtask, so that items which are enqueued without an `await` in
    // between go into the same batch.
    if (!this.#scheduled && this.#maySend(lane)) {
      this.#scheduled = true;
      queueMicrotask(() => this.#flush());
    }
    return entry.result;
  }

  #openLane(name: string): BatchLane<Item, Result> {
    const spacingMs = this.#options.spacingMsOf?.(name) ?? 0;
    const lane = new BatchLane<Item, Result>({ ...this.#bounds, spacingMs });
    this.#lanes.set(name, lane);
    return lane;
  }

  #expire(
    name: string,
    lane: BatchLane<Item, Result>,
    entry: BatchItem<Item, Result>,
    error: (wasSent: boolean) => Error,
  ): void {
    const wasSent = !lane.remove(entry);
    entry.fail(error(wasSent));
    this.#forgetIdle(name, lane);
  }

  #flush(): void {
    this.#scheduled = false;
    for (let next = this.#nextLane(); next !== undefined; next = this.#nextLane()) {
      const [name, lane] = next;
      this.#lanes.delete(name);
      this.#lanes.set(name, lane);
      void this.#send(name, lane, lane.next());
    }
  }

  #nextLane(): [string, BatchLane<Item, Result>] | undefined {
    return this.#lanes.entries().find(([, lane]) => this.#maySend(lane));
  }

  #maySend(lane: BatchLane<Item, Result>): boolean {
    const { lanesInFlightMax = Number.POSITIVE_INFINITY } = this.#options;
    return this.#inFlight < lanesInFlightMax && lane.maySend;
  }

  async #send(name: string, lane: BatchLane<Item, Result>, batch: BatchItem<Item, Result>[]): Promise<void> {
    this.#inFlight += 1;
    const release = lane.hold(() => {
      this.#options.late?.onLate?.(batch.map(({ item }) => item));
      this.#flush();
    });
    lane.rest(() => {
      this.#forgetIdle(name, lane);
      this.#flush();
    });
    try {
      const results = await this.#run(batch);
      for (const [index, result] of results.entries()) batch[index]?.finish(result);
      lane.putBack(batch.slice(results.length));
    } catch (error) {
      for (const entry of batch) entry.fail(error);
    } finally {
      release();
      this.#inFlight -= 1;
      this.#forgetIdle(name, lane);
      this.#flush();
    }
  }

  #forgetIdle(name: string, lane: BatchLane<Item, Result>): void {
    if (lane.isIdle && this.#lanes.get(name) === lane) this.#lanes.delete(name);
  }

  async #run(batch: BatchItem<Item, Result>[]): Promise<(Result | Error)[]> {
    const { run, deadline, partialAnswers } = this.#options;
    const items = batch.map(({ item }) => item);
    const results = await run(items, deadline ? leftMsOf(batch, deadline.ms) : Number.POSITIVE_INFINITY);
    const least = partialAnswers ? 1 : batch.length;
    if (results.length >= least && results.length <= batch.length) return results;
    throw new Error(`a batch of ${batch.length} items was answered with ${results.length} results`);
  }
}

function leftMsOf(batch: readonly Pick<BatchItem<unknown, unknown>, "arrivedMs">[], deadlineMs: number): number {
  return Math.max(...batch.map(({ arrivedMs }) => arrivedMs)) + deadlineMs - performance.now();
}
