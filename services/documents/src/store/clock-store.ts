import { createBatcher } from "@vidimus/kit/batcher";
import type { Collection, Db } from "mongodb";
import type { ClockRow } from "./rows.ts";

/** Reads the tenants' clocks. Writing them is the business of publishing transactions. */
export class ClockStore {
  readonly #clocks: Collection<ClockRow>;
  readonly #read: (tenantId: string) => Promise<ClockRow | undefined>;

  constructor(db: Db) {
    this.#clocks = db.collection("clocks");
    this.#read = createBatcher<string, ClockRow | undefined>({
      itemsMax: 1_000,
      // So that one slow read does not hold up every tenant's readers.
      inFlightMax: 4,
      run: (tenantIds) => this.#readAll(tenantIds),
    });
  }

  /**
   * The last tick that touched a type, or without a type any; undefined when none did. Whoever asks while a read is in flight is served by the
   * next one, all of them together: joining a read that has begun could miss what was published since.
   */
  async stamp(tenantId: string, type?: string): Promise<Date | undefined> {
    const row = await this.#read(tenantId);
    return type === undefined ? row?.tick : row?.types?.[type];
  }

  async #readAll(tenantIds: readonly string[]): Promise<(ClockRow | undefined)[]> {
    const distinct = [...new Set(tenantIds)];
    const rows = await this.#clocks.find({ tenantId: { $in: distinct } }, { maxTimeMS: 5_000 }).toArray();
    const rowOf = new Map(rows.map((row) => [row.tenantId, row]));
    return tenantIds.map((tenantId) => rowOf.get(tenantId));
  }
}
