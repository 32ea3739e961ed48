/**
 * Works through a list or stream, at most `atOnceMax` items at the same time. The first failure ends it: no further item
 * is begun, those under way are waited for, and it is thrown.
 */
export async function forEachAtOnce<T>(
  items: Iterable<T> | AsyncIterable<T>,
  atOnceMax: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const stream = asStream(items);
  const failures: unknown[] = [];
  const worker = async () => {
    try {
      while (failures.length === 0) {
        const next = await stream.next();
        if (next.done) return;
        await work(next.value);
      }
    } catch (failure) {
      failures.push(failure);
    }
  };
  await Promise.all(Array.from({ length: atOnceMax }, worker));
  if (failures.length === 0) return;
  await stream.return();
  throw failures[0];
}

/** A generator queues `next` calls that come while one is under way, so that many workers may share it. */
async function* asStream<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, void, void> {
  yield* items;
}
