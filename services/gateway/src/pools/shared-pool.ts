import { Holdings } from "@vidimus/kit/fair/holdings";
import type { PoolRefusals } from "./pool-refusals.ts";
import { type PoolSize, shareOf } from "./pool-size.ts";

/**
 * A pool whose parts are held for as long as clients are slow. A tenant never holds more than its
 * share, even while no other asks, so that one tenant alone cannot exhaust it.
 */
export class SharedPool {
  readonly #size: PoolSize;
  readonly #refusals: PoolRefusals;
  readonly #held = new Holdings();

  constructor(size: PoolSize, refusals: PoolRefusals) {
    this.#size = size;
    this.#refusals = refusals;
  }

  /** Throws RATE_LIMITED above the tenant's share, UNAVAILABLE above what is left. */
  take(tenantId: string, amount: number): void {
    const size = this.#size;
    if (this.#held.of(tenantId) + amount > shareOf(size)) throw this.#refusals.refuse(size, "share");
    if (this.#held.total + amount > size.capacity) throw this.#refusals.refuse(size, "pool");
    this.#held.add(tenantId, amount);
  }

  give(tenantId: string, amount: number): void {
    this.#held.add(tenantId, -amount);
  }
}

/** Takes parts of several pools, all or none. Returns a function that releases them. */
export function takeAll(
  tenantId: string,
  ...parts: readonly (readonly [pool: SharedPool, amount: number])[]
): () => void {
  const taken: (typeof parts)[number][] = [];
  const give = () => {
    for (const [pool, amount] of taken) pool.give(tenantId, amount);
  };
  try {
    for (const part of parts) {
      const [pool, amount] = part;
      pool.take(tenantId, amount);
      taken.push(part);
    }
  } catch (error) {
    give();
    throw error;
  }
  return give;
}
