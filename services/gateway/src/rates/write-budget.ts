import { withinDeadline } from "@vidimus/kit/deadline";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import type { BudgetStore, Charge } from "./charge.ts";
import { HeldSlices } from "./held-slices.ts";
import type { Rate } from "./rate.ts";
import type { Verdict } from "./verdict.ts";

/** When the store does not answer a charge within this time, the write passes uncharged. */
const storeMsMax = 500;
/** A slice that was not used for this time is returned, for other gateways to spend. */
const idleMs = 10_000;
const sweepMs = 5_000;

interface WriteBudgetDeps {
  readonly store: BudgetStore;
  readonly rate: Rate;
  /**
   * Called when the store failed or did not answer in time.
   *
   * @param charges how many pass uncharged: one for each write, and another one for the points of a
   * large write
   */
  onOpen(error: unknown, charges: number): void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/**
 * The writes of each tenant, counted over all gateways. A charge at the store also leases a slice
 * of the budget, to which following writes are charged without the store. Writes that arrive during
 * a charge are charged together. Disposal returns the slices.
 */
export class WriteBudget implements AsyncDisposable {
  readonly rate: Rate;
  readonly #store: WriteBudgetDeps["store"];
  readonly #onOpen: WriteBudgetDeps["onOpen"];
  readonly #now: () => number;
  readonly #held: HeldSlices;
  readonly #sweep: NodeJS.Timeout;
  readonly #enqueue: (charge: Charge) => Promise<Verdict>;

  constructor({ store, rate, onOpen, now = () => performance.now() }: WriteBudgetDeps) {
    this.rate = rate;
    this.#store = store;
    this.#onOpen = onOpen;
    this.#now = now;
    this.#held = new HeldSlices(now);
    this.#sweep = setInterval(() => void this.#returnIdle(idleMs), sweepMs).unref();
    // One charge of a tenant at a time, because each returns the slice that the one before leased.
    this.#enqueue = createBatcher<Charge, Verdict>({
      itemsMax: Number.POSITIVE_INFINITY,
      laneOf: ({ tenantId }) => tenantId,
      run: (charges) => this.#chargeAll(charges),
    });
  }

  /** Charges one write, at once while this gateway holds a slice. */
  charge(tenantId: string): Verdict | Promise<Verdict> {
    return this.#held.spend(tenantId, 1) ?? this.#enqueue({ tenantId, points: 1, whole: false });
  }

  /**
   * Charges the points of a large write, all or none, after it was charged as one write. Both
   * together are at most the whole budget; otherwise a write larger than the budget could never
   * pass.
   */
  chargeWhole(tenantId: string, points: number): Verdict | Promise<Verdict> {
    const asked = this.wholeOf(points);
    return this.#held.spend(tenantId, asked) ?? this.#enqueue({ tenantId, points: asked, whole: true });
  }

  /** The points that `chargeWhole` charges. */
  wholeOf(points: number): number {
    return Math.min(Math.ceil(points), this.rate.count - 1);
  }

  /**
   * Refunds points of a charge whose verdict had this `endsAt`. The points are lost when that
   * window has ended, and when the store fails or does not answer in time.
   */
  async refund(tenantId: string, points: number, endsAt: Date | undefined): Promise<void> {
    if (points <= 0 || !endsAt) return;
    try {
      await this.#inTime(this.#store.refund(tenantId, points, endsAt));
      this.#held.refund(tenantId, points, endsAt);
    } catch {
      // Ignored: at worst a later write is refused although the tenant should have points left.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweep);
    await withinDeadline(this.#returnIdle(0), storeMsMax);
  }

  /**
   * Decides the waiting charges of one tenant. A large one tries the slice a second time, because
   * the charge of the single writes may have leased a new slice that covers it.
   */
  async #chargeAll(charges: readonly Charge[]): Promise<Verdict[]> {
    const verdicts = new Map<Charge, Verdict>();
    for (const charge of charges) {
      const verdict = this.#held.spend(charge.tenantId, charge.points);
      if (verdict) verdicts.set(charge, verdict);
    }
    const undecided = charges.filter((charge) => !verdicts.has(charge));
    const single = undecided.filter(({ whole }) => !whole);
    if (single[0]) {
      const { granted, ...rest } = await this.#ask({ ...single[0], points: single.length });
      for (const [index, charge] of single.entries()) verdicts.set(charge, { ...rest, allowed: index < granted });
    }
    for (const charge of undecided.filter(({ whole }) => whole)) {
      verdicts.set(charge, this.#held.spend(charge.tenantId, charge.points) ?? (await this.#askWhole(charge)));
    }
    return charges.flatMap((charge) => verdicts.get(charge) ?? []);
  }

  async #askWhole(charge: Charge): Promise<Verdict> {
    const { granted, ...rest } = await this.#ask(charge);
    return { ...rest, allowed: granted === charge.points };
  }

  async #ask(charge: Charge): Promise<Omit<Verdict, "allowed"> & { readonly granted: number }> {
    const askedAt = this.#now();
    const returned = this.#held.take(charge.tenantId);
    try {
      const result = await this.#inTime(this.#store.charge({ ...charge, returned }, this.rate));
      return { granted: result.granted, ...this.#held.keep(charge.tenantId, result, askedAt) };
    } catch (error) {
      // The slice is dropped, because the store may have taken it back before its answer was lost.
      this.#onOpen(error, charge.whole ? 1 : charge.points);
      return { granted: charge.points, remaining: this.rate.count, resetMs: this.rate.windowMs };
    }
  }

  async #inTime<T>(result: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("the write budget did not answer in time")), storeMsMax);
    try {
      return await Promise.race([result, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Does not reject: a slice that cannot be returned ends with its window. */
  async #returnIdle(unusedMs: number): Promise<void> {
    await this.#store.returnSlices(this.#held.takeIdle(unusedMs)).catch(() => {});
  }
}
