import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { AttackTarget } from "./attack-form.ts";

/**
 * From form to outcome to number. The outcome of a connection is the status of its answer, `closed`
 * without an answer, or `waiting` when the attack ended before the connection. The calls of
 * `prepare` also have outcomes.
 */
export type AttackTally = Record<string, Record<string, number>>;

export interface AttackOrder {
  readonly target: AttackTarget;
  /** All forms of `attack`, or one form of `neighbours` by its name. */
  readonly form: "all" | { readonly neighbour: string };
}

interface Attack {
  stop(): Promise<AttackTally>;
}

/**
 * Attacks from another thread, so that the measuring one is not delayed. Resolves when the attack
 * begins.
 */
export async function startAttack(target: AttackTarget, form: AttackOrder["form"]): Promise<Attack> {
  const order: AttackOrder = { target, form };
  const worker = new Worker(new URL("./attacker-thread.ts", import.meta.url), { workerData: order });
  await once(worker, "message");
  return {
    async stop() {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no
      // origin
      worker.postMessage("stop");
      const [tally]: AttackTally[] = await once(worker, "message");
      await worker.terminate();
      return tally ?? {};
    },
  };
}
