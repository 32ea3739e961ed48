import { TurnQueue } from "@vidimus/kit/queues/turn-queue";

/** How long work may hold the event loop before what else the process does gets its turn. */
const sliceMs = 5;

/**
 * Runs work of a tenant on the event loop, at once or when its turn has come. Throws or rejects
 * with what `work` throws.
 */
type TakeTurn = <T>(tenantId: string, work: () => T) => T | Promise<T>;

/**
 * Shares the event loop: short synchronous works run at once until together they took 5 ms of one
 * turn of the loop. What is left waits for the next turn, and tenants take turns in it.
 */
export function createLoopTurns(now: () => number = () => performance.now()): TakeTurn {
  const waiting = new TurnQueue<() => void>();
  let waitingCount = 0;
  let spentMs = 0;
  let isScheduled = false;

  function nextSlice(): void {
    isScheduled = false;
    spentMs = 0;
    for (const tenantId of waiting.keys()) {
      for (const work of waiting.take(tenantId)) {
        waitingCount -= 1;
        run(work);
      }
      if (spentMs >= sliceMs) return;
    }
  }

  function run<T>(work: () => T): T {
    if (!isScheduled) setImmediate(nextSlice);
    isScheduled = true;
    const start = now();
    try {
      return work();
    } finally {
      spentMs += now() - start;
    }
  }

  function wait<T>(tenantId: string, work: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    waitingCount += 1;
    waiting.push(tenantId, () => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
    return promise;
  }

  return (tenantId, work) => (waitingCount === 0 && spentMs < sliceMs ? run(work) : wait(tenantId, work));
}
