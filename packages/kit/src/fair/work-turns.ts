import { LoopTurns } from "./loop-turns.ts";

/**
 * Once work took this time in a turn, further work waits until timers and sockets had their turn.
 */
const sliceMs = 5;

/** Throws or rejects with what `work` throws. */
type TakeTurn = <T>(tenantId: string, work: () => T) => T | Promise<T>;

/**
 * Shares the event loop: synchronous work runs at once until 5 ms of the turn are used. The rest
 * waits for the next turns, in which tenants alternate.
 */
export function createWorkTurns(now: () => number = () => performance.now()): TakeTurn {
  let spentMs = 0;
  const turns = new LoopTurns<() => void>({
    begin: (work) => run(work),
    renew: () => (spentMs = 0),
    weightMax: Number.POSITIVE_INFINITY,
    isFull: () => spentMs >= sliceMs,
  });

  function run<T>(work: () => T): T {
    turns.schedule();
    const start = now();
    try {
      return work();
    } finally {
      spentMs += now() - start;
    }
  }

  function wait<T>(tenantId: string, work: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    turns.wait(tenantId, () => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
    return promise;
  }

  return (tenantId, work) => (turns.isEmpty && spentMs < sliceMs ? run(work) : wait(tenantId, work));
}
