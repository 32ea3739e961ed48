/**
 * Calls `work` for each item of a list or stream, at most `concurrentMax` at the same time.
 *
 * @throws the first failure, after the running calls have ended; no further item is started
 */
export async function forEachConcurrent<T>(
  items: Iterable<T> | AsyncIterable<T>,
  concurrentMax: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const stream = asStream(items);
  const failures: unknown[] = [];
  const worker = async () => {
    try {
      while (failures.length === 0) {
        const next = await stream.next();
        if (next.done || failures.length > 0) return;
        await work(next.value);
      }
    } catch (failure) {
      failures.push(failure);
    }
  };
  await Promise.all(Array.from({ length: concurrentMax }, worker));
  if (failures.length === 0) return;
  await stream.return();
  throw failures[0];
}

/** A generator queues calls of `next` while one is pending, so several workers can share it. */
async function* asStream<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, void, void> {
  yield* items;
}
