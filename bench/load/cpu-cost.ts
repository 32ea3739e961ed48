/**
 * Operations between two readings of the clock; so many that the cost of a reading is negligible.
 */
const batch = 500;

/**
 * CPU microseconds of one operation in this process, over all its threads, including garbage
 * collection.
 *
 * @param operation gets a number that counts up; a returned promise is awaited
 */
export async function cpuMicrosOf(operation: (index: number) => unknown, durationMs: number): Promise<number> {
  const until = performance.now() + durationMs;
  const before = process.cpuUsage();
  let count = 0;
  while (performance.now() < until) {
    for (const end = count + batch; count < end; count += 1) {
      const result = operation(count);
      if (result instanceof Promise) await result;
    }
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
