import type { Collection, Db } from "mongodb";
import type { Rate } from "../domain/rate.ts";
import type { WriteBudgetRow } from "./rows.ts";

/** What the store gave. */
export interface Grant {
  /** Of the points that were asked for. */
  readonly granted: number;
  readonly remaining: number;
  /** Milliseconds until the window ends, by the database's clock. */
  readonly resetMs: number;
}

/** Keeps how much of its write budget each tenant has used: one row a tenant, one atomic update a charge. */
export class WriteBudgetStore {
  readonly #budgets: Collection<WriteBudgetRow>;

  constructor(db: Db) {
    this.#budgets = db.collection<WriteBudgetRow>("write_budgets");
  }

  /**
   * Takes points from a tenant's budget. The database's clock rules, so that all gateways agree on the window.
   * `whole`: all of the points or none of them; otherwise as many as are left.
   */
  async charge(tenantId: string, points: number, rate: Rate, whole: boolean): Promise<Grant> {
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
      // A count that is lost with a primary costs less than waiting for a majority at every batch.
      { upsert: true, returnDocument: "after", writeConcern: { w: 1 } },
    );
    if (!row) throw new Error("a charge left no row");
    const { granted, used, endsAt, chargedAt } = row;
    return { granted, remaining: rate.count - used, resetMs: endsAt.getTime() - chargedAt.getTime() };
  }
}

/** Begins a window where none is running, or one that is longer than windows are now. */
function freshWindow(windowMs: number) {
  const end = { $add: ["$$NOW", windowMs] };
  const over = { $or: [{ $lte: [{ $ifNull: ["$endsAt", "$$NOW"] }, "$$NOW"] }, { $gt: ["$endsAt", end] }] };
  return [{ $set: { used: { $cond: [over, 0, "$used"] }, endsAt: { $cond: [over, end, "$endsAt"] } } }];
}
