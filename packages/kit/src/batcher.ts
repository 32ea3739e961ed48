/** How a batcher collects and runs. */
export interface BatcherOptions<Item, Result> {
  /** Runs one batch; answers one result an item, in order. An `Error` fails its item, a rejection every item of the batch. */
  run(items: Item[]): Promise<(Result | Error)[]>;
  /** Most items in a batch. */
  itemsMax: number;
  /** Most bytes in a batch; an item larger than that goes alone. */
  bytesMax?: number;
  /** Size of an item in bytes; needed with `bytesMax`. */
  sizeOf?(item: Item): number;
  /** Batches that may run at once; 1 unless said. */
  inFlightMax?: number;
}

interface Waiting<Item, Result> {
  item: Item;
  bytes: number;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Natural batching: while batches are in flight the items that arrive are collected and go out together as soon as one
 * returns; an idle batcher sends at once. So nothing ever waits for a timer, and batches grow only under load.
 *
 * @returns a function that takes one item and answers its result
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { itemsMax, bytesMax = Number.POSITIVE_INFINITY, sizeOf = () => 0, inFlightMax = 1 } = options;
  const waiting: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let scheduled = false;

  function take(): Waiting<Item, Result>[] {
    let bytes = 0;
    let count = 0;
    for (const entry of waiting) {
      bytes += entry.bytes;
      if (count === itemsMax || (count > 0 && bytes > bytesMax)) break;
      count += 1;
    }
    return waiting.splice(0, count);
  }

  async function send(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await options.run(batch.map(({ item }) => item));
      if (results.length !== batch.length) {
        throw new Error(`a batch of ${batch.length} items was answered with ${results.length} results`);
      }
      for (const [index, entry] of batch.entries()) settle(entry, results[index] as Result | Error);
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
  }

  function flush(): void {
    scheduled = false;
    while (inFlight < inFlightMax && waiting.length > 0) {
      inFlight += 1;
      void send(take()).finally(() => {
        inFlight -= 1;
        flush();
      });
    }
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, bytes: sizeOf(item), resolve, reject });
      // One turn of the microtask queue gathers what one tick of the event loop brought in.
      if (!scheduled && inFlight < inFlightMax) {
        scheduled = true;
        queueMicrotask(flush);
      }
    });
}

function settle<Item, Result>({ resolve, reject }: Waiting<Item, Result>, result: Result | Error): void {
  if (result instanceof Error) reject(result);
  else resolve(result);
}
