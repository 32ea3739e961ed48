import { randomUUID } from "node:crypto";
import type { Collection, Db } from "mongodb";
import type { Rate } from "../limits/rate.ts";
import type { WriteBudgetRow } from "./rows.ts";

/** Points of a tenant's budget that one gateway may spend until the window ends. */
export interface Slice {
  readonly lease: string;
  readonly points: number;
  /** The end of its window by the database's clock; it names the window. */
  readonly endsAt: Date;
}

/** A charge to a tenant's budget. */
export interface Charge {
  readonly tenantId: string;
  readonly points: number;
  /** All of the points or none; otherwise as many as are left. */
  readonly whole: boolean;
  /** The caller's slice, with its unspent points. The charge takes it back and leases a new one. */
  readonly returned?: Slice | undefined;
}

/** The result of a charge. */
export interface ChargeResult {
  /** How many of the points were charged. */
  readonly granted: number;
  /** Points that are neither spent nor leased to any gateway. */
  readonly left: number;
  /** Milliseconds until the window ends, by the database's clock. */
  readonly resetMs: number;
  /** What the caller may spend besides; it may have no points. */
  readonly slice: Slice;
}

/** A smaller budget has no slices, so that it is counted exactly. */
const slicedBudgetMin = 100;

/**
 * Stores how much of its write budget each tenant has used: one row per tenant, one atomic update
 * per charge. The points of a slice count as used from its lease to its return. So no more than the
 * budget is ever spent, and what is refused would have used more than the budget less all slices.
 */
export class WriteBudgetStore {
  readonly #budgets: Collection<WriteBudgetRow>;

  constructor(db: Db) {
    this.#budgets = db.collection<WriteBudgetRow>("write_budgets");
  }

  /**
   * Charges points to a tenant's budget, and leases a slice of what is then left. The window
   * follows the database's clock, so that all gateways agree on it.
   */
  async charge({ tenantId, points, whole, returned }: Charge, rate: Rate): Promise<ChargeResult> {
    const lease = randomUUID();
    const row = await this.#budgets.findOneAndUpdate(
      { _id: tenantId },
      [
        ...freshWindow(rate.windowMs),
        ...takeBack(returned),
        ...grant(points, whole, rate.count),
        ...lend(lease, rate.count),
      ],
      // Waiting for a majority at every charge would cost more than a count that is lost with a
      // primary.
      { upsert: true, returnDocument: "after", writeConcern: { w: 1 } },
    );
    if (!row) throw new Error("a charge left no row");
    const { granted, lent, used, endsAt, chargedAt } = row;
    return {
      granted,
      left: Math.max(0, rate.count - used),
      resetMs: endsAt.getTime() - chargedAt.getTime(),
      slice: { lease, points: lent, endsAt },
    };
  }

  /** Takes back points that were charged in the window that ends at `endsAt`, if it still runs. */
  async refund(tenantId: string, points: number, endsAt: Date): Promise<void> {
    await this.#budgets.updateOne({ _id: tenantId, endsAt }, { $inc: { used: -points } }, { writeConcern: { w: 1 } });
  }

  /** Takes unspent slices back. A slice whose window has ended, or that is not known, is skipped. */
  async returnSlices(slices: readonly { readonly tenantId: string; readonly slice: Slice }[]): Promise<void> {
    if (slices.length === 0) return;
    const updates = slices.map(({ tenantId, slice: { lease, points, endsAt } }) => ({
      updateOne: {
        filter: { _id: tenantId, endsAt, "slices.lease": lease },
        update: { $inc: { used: -points }, $pull: { slices: { lease } } },
      },
    }));
    await this.#budgets.bulkWrite(updates, { ordered: false, writeConcern: { w: 1 } });
  }
}

/**
 * By how much a window may seem longer than its rate's. `$$NOW` is the time at which an update began,
 * and of two updates of a row the one that began first may be applied last. It then finds a window
 * that ends later than one that it would start itself, and must not start it again: what was
 * charged would be forgotten.
 */
const overtakingMsMax = 10_000;

/**
 * Starts a new window when none is running, or when the running one is longer than the rate's,
 * because the rate was changed. Slices end with their window.
 */
function freshWindow(windowMs: number) {
  const end = { $add: ["$$NOW", windowMs] };
  const endMax = { $add: ["$$NOW", windowMs + overtakingMsMax] };
  const over = { $or: [{ $lte: [{ $ifNull: ["$endsAt", "$$NOW"] }, "$$NOW"] }, { $gt: ["$endsAt", endMax] }] };
  const slices = { $filter: { input: { $ifNull: ["$slices", []] }, cond: { $eq: ["$$this.endsAt", "$endsAt"] } } };
  return [
    { $set: { used: { $cond: [over, 0, "$used"] }, endsAt: { $cond: [over, end, "$endsAt"] } } },
    { $set: { slices } },
  ];
}

/** Returns a slice's unspent points. One of an earlier window is not in the row any more. */
function takeBack(slice: Slice | undefined) {
  if (!slice) return [];
  const points = { $cond: [{ $in: [slice.lease, "$slices.lease"] }, slice.points, 0] };
  const others = { $filter: { input: "$slices", cond: { $ne: ["$$this.lease", slice.lease] } } };
  return [{ $set: { used: { $subtract: ["$used", points] }, slices: others } }];
}

function grant(points: number, whole: boolean, count: number) {
  const left = { $subtract: [count, "$used"] };
  const part = { $max: [0, { $min: [points, left] }] };
  const all = { $cond: [{ $lte: [points, left] }, points, 0] };
  return [
    { $set: { granted: whole ? all : part, chargedAt: "$$NOW" } },
    { $set: { used: { $add: ["$used", "$granted"] } } },
  ];
}

/**
 * Leases a slice: half of what all slices together may still hold, which is a tenth of the budget,
 * so that other gateways find a part. A slice counts with the points it was leased with, also when
 * its gateway has died.
 */
function lend(lease: string, count: number) {
  const heldMax = count < slicedBudgetMin ? 0 : Math.floor(count / 10);
  const half = { $ceil: { $divide: [{ $subtract: [heldMax, { $sum: "$slices.points" }] }, 2] } };
  const slice = { lease, points: "$lent", endsAt: "$endsAt" };
  const slices = { $cond: [{ $gt: ["$lent", 0] }, { $concatArrays: ["$slices", [slice]] }, "$slices"] };
  return [
    { $set: { lent: { $max: [0, { $min: [half, { $subtract: [count, "$used"] }] }] } } },
    { $set: { used: { $add: ["$used", "$lent"] }, slices } },
  ];
}
