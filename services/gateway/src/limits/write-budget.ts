import { createBatcher } from "@vidimus/kit/queues/batcher";
import { LRUCache } from "lru-cache";
import type { Rate } from "./rate.ts";
import type { ChargeResult, WriteBudgetStore } from "../store/write-budget-store.ts";
import type { Verdict } from "./verdict.ts";

/** When the store does not answer a charge within this time, the write passes uncharged. */
const storeMsMax = 500;
const tenantsMax = 10_000;

interface WriteBudgetDeps {
  readonly store: Pick<WriteBudgetStore, "charge">;
  readonly rate: Rate;
  /** Called when a write passed uncharged because the store failed or did not answer. */
  onOpen(error: unknown): void;
}

/**
 * The writes a tenant may make, counted exactly over all gateways. Writes that arrive while a
 * charge is under way are charged together, because one update of the tenant's row per request
 * would limit intake. While a budget is known to be used up, the store is not asked.
 */
export class WriteBudget {
  readonly rate: Rate;
  readonly #store: WriteBudgetDeps["store"];
  readonly #onOpen: WriteBudgetDeps["onOpen"];
  readonly #usedUpUntil = new LRUCache<string, number>({ max: tenantsMax });
  /** Charges one write of a tenant, together with others that wait. */
  readonly #chargeTogether: (tenantId: string) => Promise<Verdict>;

  constructor({ store, rate, onOpen }: WriteBudgetDeps) {
    this.rate = rate;
    this.#store = store;
    this.#onOpen = onOpen;
    this.#chargeTogether = createBatcher<string, Verdict>({
      itemsMax: Number.POSITIVE_INFINITY,
      laneOf: (tenantId) => tenantId,
      run: (tenantIds) => this.#chargeAll(tenantIds[0] ?? "", tenantIds.length),
    });
  }

  /** Charges one write. */
  async charge(tenantId: string): Promise<Verdict> {
    const resetMs = (this.#usedUpUntil.get(tenantId) ?? 0) - performance.now();
    if (resetMs > 0) return { allowed: false, remaining: 0, resetMs };
    return this.#chargeTogether(tenantId);
  }

  /**
   * Charges the points of a large write, all of them or none, after it was charged as one write.
   * Both together are never more than the whole budget; otherwise a write larger than the budget
   * could never pass.
   */
  async chargeWhole(tenantId: string, points: number): Promise<Verdict> {
    const asked = Math.min(Math.ceil(points), this.rate.count - 1);
    const { granted, remaining, resetMs } = await this.#ask(tenantId, asked, true);
    return { allowed: granted === asked, remaining, resetMs };
  }

  async #chargeAll(tenantId: string, count: number): Promise<Verdict[]> {
    const { granted, remaining, resetMs } = await this.#ask(tenantId, count, false);
    if (remaining === 0) this.#usedUpUntil.set(tenantId, performance.now() + resetMs);
    return Array.from({ length: count }, (_, index) => ({ allowed: index < granted, remaining, resetMs }));
  }

  async #ask(tenantId: string, points: number, whole: boolean): Promise<ChargeResult> {
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
