import { randomUUID } from "node:crypto";
import type { Collection, Db } from "mongodb";
import type { Charge, ChargeResult, Slice } from "../rates/charge.ts";
import type { Rate } from "../rates/rate.ts";
import type { WriteBudgetRow } from "./rows.ts";

/** A smaller budget has no slices, so that it is counted exactly. */
const slicedBudgetMin = 100;

/**
 * Stores how much of its write budget each tenant has used: one row for each tenant, one atomic
 * update for each charge. The points of a slice count as used from its lease to its return. So no
 * more than the budget is spent, unless a failover loses charges, but a charge may be refused while
 * gateways hold unspent points in slices.
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
      // Waiting for a majority at every charge would cost more than a charge that is lost in a
      // failover.
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

  /**
   * Refunds points that were charged in the window that ends at `endsAt`, unless another has begun.
   */
  async refund(tenantId: string, points: number, endsAt: Date): Promise<void> {
    await this.#budgets.updateOne({ _id: tenantId, endsAt }, { $inc: { used: -points } }, { writeConcern: { w: 1 } });
  }

  /**
   * Returns the unspent points of slices to the budgets. Ignores a slice that is unknown, or whose
   * window has ended.
   */
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
 * A window may seem longer than its rate's by this much. `$$NOW` is the time at which an update
 * began, and of two updates of a row the one that began first may be applied last. The update that
 * is applied last then finds a window that ends later than one that it would start itself. It must
 * not replace that window, because charges would be forgotten.
 */
const overtakingMsMax = 10_000;

/**
 * Starts a new window when none is running, or when the running one is longer than the rate's
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

/**
 * Returns a slice's unspent points to the budget. A slice of an earlier window is no longer in the
 * row.
 */
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
 * Leases a slice. All slices together hold at most a tenth of the budget; a new one gets half of
 * what is left of that, so that other gateways get slices, too. A slice counts with its leased
 * points, also when its gateway has died.
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
