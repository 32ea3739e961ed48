import { createBatcher } from "@vidimus/kit/batcher";
import { LRUCache } from "lru-cache";
import type { Rate } from "../domain/rate.ts";
import type { Grant, WriteBudgetStore } from "../store/write-budget-store.ts";
import type { Verdict } from "./verdict.ts";

/** A budget that cannot be asked within this time does not stop a write. */
const storeMsMax = 500;
const tenantsMax = 10_000;

export interface WriteBudgetDeps {
  readonly store: Pick<WriteBudgetStore, "charge">;
  readonly rate: Rate;
  /** Told when a write passed because the store could not be asked. */
  onOpen(error: unknown): void;
}

/**
 * The writes a tenant may make, exact over all gateways. Writes that arrive while a charge is under way are charged
 * together: one hot row per request would cap intake. A budget known to be used up is not asked for again.
 */
export class WriteBudget {
  readonly rate: Rate;
  readonly #store: WriteBudgetDeps["store"];
  readonly #onOpen: WriteBudgetDeps["onOpen"];
  readonly #usedUpUntil = new LRUCache<string, number>({ max: tenantsMax });
  readonly #batchers = new LRUCache<string, (points: 1) => Promise<Verdict>>({ max: tenantsMax });

  constructor({ store, rate, onOpen }: WriteBudgetDeps) {
    this.rate = rate;
    this.#store = store;
    this.#onOpen = onOpen;
  }

  /** Charges one write. */
  async charge(tenantId: string): Promise<Verdict> {
    const resetMs = (this.#usedUpUntil.get(tenantId) ?? 0) - performance.now();
    if (resetMs > 0) return { allowed: false, remaining: 0, resetMs };
    return this.#batcher(tenantId)(1);
  }

  /** Charges a large write as a whole, before its first row: refused, it has cost nothing. Never more than the whole budget. */
  async chargeWhole(tenantId: string, points: number): Promise<Verdict> {
    const asked = Math.min(Math.ceil(points), this.rate.count);
    const { granted, remaining, resetMs } = await this.#ask(tenantId, asked, true);
    return { allowed: granted === asked, remaining, resetMs };
  }

  #batcher(tenantId: string): (points: 1) => Promise<Verdict> {
    const known = this.#batchers.get(tenantId);
    if (known) return known;
    const batcher = createBatcher<1, Verdict>({
      itemsMax: Number.POSITIVE_INFINITY,
      run: async (items) => {
        const { granted, remaining, resetMs } = await this.#ask(tenantId, items.length, false);
        if (remaining === 0) this.#usedUpUntil.set(tenantId, performance.now() + resetMs);
        return items.map((_, index) => ({ allowed: index < granted, remaining, resetMs }));
      },
    });
    this.#batchers.set(tenantId, batcher);
    return batcher;
  }

  async #ask(tenantId: string, points: number, whole: boolean): Promise<Grant> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("the write budget did not answer in time")), storeMsMax);
    try {
      return await Promise.race([this.#store.charge(tenantId, points, this.rate, whole), late.promise]);
    } catch (error) {
      this.#onOpen(error);
      return { granted: points, remaining: this.rate.count, resetMs: this.rate.windowMs };
    } finally {
      clearTimeout(timer);
    }
  }
}
