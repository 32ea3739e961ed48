import { TurnQueue } from "@vidimus/kit/queues/turn-queue";
import { Holdings } from "@vidimus/kit/queues/holdings";
import type { PoolRefusals } from "./pool-refusals.ts";
import { type PoolSize, shareOf } from "./pool-size.ts";

interface Waiter {
  grant(): void;
}

/**
 * The requests worked on at once. A slot is free again within milliseconds, so one tenant may hold
 * all of them while no other asks, and a request that finds none free waits. A freed slot goes to
 * the next waiting tenant, in turn, that holds less than half, or to the first in turn when all
 * hold more.
 */
export class RequestSlots {
  readonly #size: PoolSize;
  readonly #waitMsMax: number;
  readonly #refusals: PoolRefusals;
  readonly #held = new Holdings();
  readonly #waiting = new TurnQueue<Waiter>();

  /** @param waitMsMax how long a request may wait for a slot */
  constructor(size: PoolSize, waitMsMax: number, refusals: PoolRefusals) {
    this.#size = size;
    this.#waitMsMax = waitMsMax;
    this.#refusals = refusals;
  }

  /**
   * Takes a slot and answers the function that releases it; calling that function again does
   * nothing. When no slot gets free in time, rejects with RATE_LIMITED if the tenant holds its
   * share, else with UNAVAILABLE.
   */
  async take(tenantId: string): Promise<() => void> {
    if (this.#held.total >= this.#size.capacity) await this.#wait(tenantId);
    else this.#held.add(tenantId, 1);
    let holds = true;
    return () => {
      if (!holds) return;
      holds = false;
      this.#held.add(tenantId, -1);
      this.#handOn();
    };
  }

  #wait(tenantId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        grant: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const giveUp = () => {
        this.#waiting.remove(tenantId, waiter);
        reject(this.#refusals.refuse(this.#size, this.#holdsShare(tenantId) ? "share" : "pool"));
      };
      const timer = setTimeout(giveUp, this.#waitMsMax);
      this.#waiting.push(tenantId, waiter);
    });
  }

  #handOn(): void {
    const [first] = this.#waiting.keys();
    const tenantId = this.#waiting.keys().find((waiting) => !this.#holdsShare(waiting)) ?? first;
    if (tenantId === undefined) return;
    const [waiter] = this.#waiting.take(tenantId);
    this.#held.add(tenantId, 1);
    waiter?.grant();
  }

  #holdsShare(tenantId: string): boolean {
    return this.#held.of(tenantId) >= shareOf(this.#size);
  }
}
