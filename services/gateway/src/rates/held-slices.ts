import type { ChargeResult, Slice } from "./charge.ts";
import type { Verdict } from "./verdict.ts";

/** What this gateway knows of a tenant's budget. Times are monotonic milliseconds. */
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
 * It is not the rest of the window, because another gateway may refund points or return a slice.
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

  /** @param askedAt when the store was asked for the charge, in monotonic milliseconds */
  keep(tenantId: string, { slice, left, resetMs }: ChargeResult, askedAt: number): Omit<Verdict, "allowed"> {
    const now = this.#now();
    // The database's clock was read between `askedAt` and now, so the window ends between
    // `spendableUntil` and `resetAt`.
    const times = { spendableUntil: askedAt + resetMs, resetAt: now + resetMs, keptAt: now, usedAt: now };
    if (slice.points > 0 || left === 0) this.#holdings.set(tenantId, { slice, unspent: slice.points, left, ...times });
    return { remaining: slice.points + left, resetMs, endsAt: slice.endsAt };
  }

  /** Adds points that the store has refunded, unless the held slice is of another window. */
  refund(tenantId: string, points: number, endsAt: Date): void {
    const holding = this.#holdings.get(tenantId);
    if (holding?.slice.endsAt.getTime() === endsAt.getTime()) holding.left += points;
  }

  /** Forgets a tenant's budget. Returns its slice with the unspent points, if there is one. */
  take(tenantId: string): Slice | undefined {
    const holding = this.#holdings.get(tenantId);
    this.#holdings.delete(tenantId);
    return holding && holding.slice.points > 0 ? { ...holding.slice, points: holding.unspent } : undefined;
  }

  /**
   * Removes slices that have ended or were not used for `idleMs`, but keeps used-up budgets until
   * their window ends. Returns the removed slices whose window runs, even without unspent points,
   * because a slice counts against new slices until it is returned.
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
