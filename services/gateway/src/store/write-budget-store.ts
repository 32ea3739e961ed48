import type { Collection, Db } from "mongodb";
import type { Rate } from "../limits/rate.ts";
import type { WriteBudgetRow } from "./rows.ts";

/** The result of a charge. */
export interface ChargeResult {
  /** How many of the points were charged. */
  readonly granted: number;
  readonly remaining: number;
  /** Milliseconds until the window ends, by the database's clock. */
  readonly resetMs: number;
}

/**
 * Stores how much of its write budget each tenant has used: one row per tenant, one atomic update
 * per charge.
 */
export class WriteBudgetStore {
  readonly #budgets: Collection<WriteBudgetRow>;

  constructor(db: Db) {
    this.#budgets = db.collection<WriteBudgetRow>("write_budgets");
  }

  /**
   * Charges points to a tenant's budget. The window follows the database's clock, so that all
   * gateways agree on it. `whole`: all of the points or none; otherwise as many as are left.
   */
  async charge(tenantId: string, points: number, rate: Rate, whole: boolean): Promise<ChargeResult> {
    const left = { $subtract: [rate.count, "$used"] };
    const part = { $max: [0, { $min: [points, left] }] };
    const all = { $cond: [{ $lte: [points, left] }, points, 0] };
    const row = await this.#budgets.findOneAndUpdate(
      { _id: tenantId },
      [
        ...freshWindow(rate.windowMs),
        { $set: { granted: whole ? all : part, chargedAt: "$$NOW" } },
        { $set: { used: { $add: ["$used", "$granted"] } } },
      ],
      // Waiting for a majority at every batch would cost more than a count that is lost with a
      // primary.
      { upsert: true, returnDocument: "after", writeConcern: { w: 1 } },
    );
    if (!row) throw new Error("a charge left no row");
    const { granted, used, endsAt, chargedAt } = row;
    return { granted, remaining: rate.count - used, resetMs: endsAt.getTime() - chargedAt.getTime() };
  }
}

/** Starts a new window when none is running, or when the running one is longer than the rate's. */
function freshWindow(windowMs: number) {
  const end = { $add: ["$$NOW", windowMs] };
  const over = { $or: [{ $lte: [{ $ifNull: ["$endsAt", "$$NOW"] }, "$$NOW"] }, { $gt: ["$endsAt", end] }] };
  return [{ $set: { used: { $cond: [over, 0, "$used"] }, endsAt: { $cond: [over, end, "$endsAt"] } } }];
}
