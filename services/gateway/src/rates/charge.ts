import type { Rate } from "./rate.ts";

/** Points of a tenant's budget that one gateway may spend until the window ends. */
export interface Slice {
  readonly lease: string;
  readonly points: number;
  /** End of the window by the database's clock; it identifies the window. */
  readonly endsAt: Date;
}

export interface Charge {
  readonly tenantId: string;
  readonly points: number;
  /** True: all of the points are charged, or none. False: as many as are left. */
  readonly whole: boolean;
  /** The caller's slice with its unspent points, which the charge takes back. */
  readonly returned?: Slice | undefined;
}

export interface ChargeResult {
  /** How many of the points were charged. */
  readonly granted: number;
  /** Points that are neither spent nor leased to any gateway. */
  readonly left: number;
  /** Milliseconds until the window ends, by the database's clock. */
  readonly resetMs: number;
  /** What the caller may spend besides the granted points; it may have no points. */
  readonly slice: Slice;
}

/**
 * Counts what tenants have used of their budgets, over all gateways: `store/write-budget-store.ts`.
 */
export interface BudgetStore {
  charge(charge: Charge, rate: Rate): Promise<ChargeResult>;
  refund(tenantId: string, points: number, endsAt: Date): Promise<void>;
  returnSlices(slices: readonly { readonly tenantId: string; readonly slice: Slice }[]): Promise<void>;
}
