import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** How connections ended, by form and then by status; `closed` when without an answer. */
export type AttackTally = Record<string, Record<string, number>>;

/** An attack under way. */
export interface Attack {
  /** Ends it, and answers what came of it. */
  stop(): Promise<AttackTally>;
}

/** Attacks from a thread of its own, so that the one that measures is not held up. Resolves when it begins. */
export async function startAttack(gateway: string, apiKey: string): Promise<Attack> {
  const worker = new Worker(new URL("./attacker-thread.ts", import.meta.url), { workerData: { gateway, apiKey } });
  await once(worker, "message");
  return {
    async stop() {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
      worker.postMessage("stop");
      const [tally]: AttackTally[] = await once(worker, "message");
      await worker.terminate();
      return tally ?? {};
    },
  };
}
