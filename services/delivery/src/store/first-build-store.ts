import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection, Db } from "mongodb";
import { deliveryIdOf } from "../domain/delivery.ts";
import { attemptsMax } from "./delivery-rows.ts";
import type { LaneStore } from "./lane-store.ts";
import type { DeliveryRow, FirstBuildRow } from "./rows.ts";

/** Most rows that are carried over at once. */
const rowsMax = 500;

/**
 * Carries pending rows of the first build over: from `deliveries`, where every pending row had a due
 * time, to `webhook_deliveries`. A row is deleted after it was stored anew, so that a process may die
 * between. Rows that a process of the first build has leased are left to it until the lease ends.
 * Payloads, in `snapshots`, are not needed any more: documents has the bytes and the signatures.
 */
export class FirstBuildStore {
  readonly #old: Collection<FirstBuildRow>;
  readonly #rows: Collection<DeliveryRow>;
  readonly #lanes: Pick<LaneStore, "appointMissingBearers">;

  constructor(db: Db, lanes: Pick<LaneStore, "appointMissingBearers">) {
    this.#old = db.collection("deliveries");
    this.#rows = db.collection("webhook_deliveries");
    this.#lanes = lanes;
  }

  /** @returns how many rows were carried over */
  async carryOver(now: Date): Promise<number> {
    const filter = { state: "pending" as const, $or: [{ lease: { $exists: false } }, { "lease.until": { $lt: now } }] };
    let count = 0;
    for (;;) {
      const rows = await this.#old.find(filter).sort({ sequence: 1 }).limit(rowsMax).toArray();
      if (rows.length === 0) break;
      await this.#rows.insertMany(rows.map(fromFirstBuild), { ordered: false }).catch(duplicatePositions);
      await this.#old.deleteMany({ ...filter, _id: { $in: rows.map(({ _id }) => _id) } });
      count += rows.length;
    }
    if (count > 0) await this.#lanes.appointMissingBearers(now);
    return count;
  }
}

function fromFirstBuild(row: FirstBuildRow): DeliveryRow {
  const { tenantId, endpointId, documentId, sequence, webhookId, attemptCount, attempts, createdAt } = row;
  return {
    _id: deliveryIdOf({ endpointId }, webhookId),
    tenantId,
    endpointId,
    documentId,
    sequence,
    signingNumber: 1,
    webhookId,
    state: "pending",
    generation: 0,
    attemptCount,
    retryCount: attemptCount,
    attempts: attempts.slice(-attemptsMax),
    createdAt,
  };
}
