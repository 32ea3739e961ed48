import type { ChargeResult, Slice } from "./charge.ts";
import type { Verdict } from "./verdict.ts";

/** What this gateway knows of a tenant's budget. Times are monotonic. */
interface Holding {
  readonly slice: Slice;
  unspent: number;
  /**
   * Points that were neither spent nor leased when the slice was leased, plus those refunded here
   * since.
   */
  left: number;
  /** Not later than the end of the window. */
  readonly spendableUntil: number;
  /** Not earlier than the end of the window. */
  readonly resetAt: number;
  readonly keptAt: number;
  usedAt: number;
}

/**
 * After the store found a budget used up, charges are refused for this long without asking again.
 * Not until the window ends, because another gateway may refund points of an import.
 */
const usedUpMs = 1_000;

/**
 * The slices of write budgets that this gateway holds, and the budgets that it knows to be used up.
 */
export class HeldSlices {
  readonly #now: () => number;
  readonly #holdings = new Map<string, Holding>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Decides a charge from the tenant's slice, all of its points or none. Undefined when only the
   * store can decide.
   */
  spend(tenantId: string, points: number): Verdict | undefined {
    const holding = this.#holdings.get(tenantId);
    if (!holding) return undefined;
    const now = this.#now();
    const { unspent, left, spendableUntil, resetAt, keptAt } = holding;
    const resetMs = resetAt - now;
    const isUsedUp = unspent + left === 0 && points > 0 && resetMs > 0;
    if (isUsedUp && now < keptAt + usedUpMs) return { allowed: false, remaining: 0, resetMs };
    if (unspent < points || spendableUntil <= now) return undefined;
    holding.unspent -= points;
    holding.usedAt = now;
    return { allowed: true, remaining: holding.unspent + left, resetMs, endsAt: holding.slice.endsAt };
  }

  /**
   * Keeps the slice of a charge that was requested at `askedAt`. Returns what the tenant has left.
   */
  keep(tenantId: string, { slice, left, resetMs }: ChargeResult, askedAt: number): Omit<Verdict, "allowed"> {
    const now = this.#now();
    // The database's clock was read between the request and now, so the window ends between the two
    // times.
    const times = { spendableUntil: askedAt + resetMs, resetAt: now + resetMs, keptAt: now, usedAt: now };
    if (slice.points > 0 || left === 0) this.#holdings.set(tenantId, { slice, unspent: slice.points, left, ...times });
    return { remaining: slice.points + left, resetMs, endsAt: slice.endsAt };
  }

  /** Notes a refund of the store, unless another window has begun since `endsAt`. */
  refund(tenantId: string, points: number, endsAt: Date): void {
    const holding = this.#holdings.get(tenantId);
    if (holding?.slice.endsAt.getTime() === endsAt.getTime()) holding.left += points;
  }

  /** Removes a tenant's slice, and returns it with its unspent points. */
  take(tenantId: string): Slice | undefined {
    const holding = this.#holdings.get(tenantId);
    this.#holdings.delete(tenantId);
    return holding && holding.slice.points > 0 ? { ...holding.slice, points: holding.unspent } : undefined;
  }

  /**
   * Drops slices that have ended, and removes those that were not used for `idleMs`; a budget that
   * is used up is remembered until its window ends. Returns the removed slices while their window
   * runs, even those whose points are spent: a slice counts against new slices until it is
   * returned.
   */
  takeIdle(idleMs: number): { tenantId: string; slice: Slice }[] {
    const now = this.#now();
    const idle: { tenantId: string; slice: Slice }[] = [];
    for (const [tenantId, { unspent, left, resetAt, spendableUntil, usedAt }] of this.#holdings) {
      const usedUp = unspent + left === 0;
      if (usedUp ? resetAt > now : spendableUntil > now && usedAt + idleMs > now) continue;
      const slice = this.take(tenantId);
      if (slice && spendableUntil > now) idle.push({ tenantId, slice });
    }
    return idle;
  }
}
