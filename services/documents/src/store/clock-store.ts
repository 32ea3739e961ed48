import { createBatcher } from "@vidimus/kit/queues/batcher";
import { LRUCache } from "lru-cache";
import type { Collection, Db, MongoClient } from "mongodb";
import type { ClockReader, ClockReading, Moment } from "../domain/published-reads/tenant-clock.ts";
import { momentOf, sessionAt } from "./causal-session.ts";
import type { ClockRow } from "./rows.ts";

/** Most tenants whose last reading is kept. */
const rememberedMax = 10_000;

/** Reads the tenants' clocks. `TransitionStore` writes them. */
export class ClockStore implements ClockReader {
  readonly #client: MongoClient;
  readonly #clocks: Collection<ClockRow>;
  readonly #read: (tenantId: string) => Promise<ClockReading>;
  readonly #remembered = new LRUCache<string, ClockReading>({ max: rememberedMax });

  constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#clocks = db.collection("clocks");
    this.#read = createBatcher<string, ClockReading>({
      itemsMax: 1_000,
      // So that one slow read does not hold up every tenant's readers.
      inFlightMax: 4,
      run: (tenantIds) => this.#readAll(tenantIds),
    });
  }

  /**
   * Reads a tenant's clock. Calls that come while a read is in flight share the next one: the read
   * in flight may have begun before a publication that they must see.
   */
  read(tenantId: string): Promise<ClockReading> {
    return this.#read(tenantId);
  }

  recall(tenantId: string): ClockReading | undefined {
    return this.#remembered.get(tenantId);
  }

  /** Keeps a reading for `recall`, unless a newer one is kept: that of a commit counts, too. */
  remember(tenantId: string, reading: ClockReading): void {
    const known = this.#remembered.get(tenantId)?.tick;
    if (known === undefined || (reading.tick !== undefined && reading.tick >= known)) {
      this.#remembered.set(tenantId, reading);
    }
  }

  async #readAll(tenantIds: readonly string[]): Promise<ClockReading[]> {
    const distinct = [...new Set(tenantIds)];
    await using session = sessionAt(this.#client);
    const rows = await this.#clocks.find({ tenantId: { $in: distinct } }, { session, maxTimeMS: 5_000 }).toArray();
    const moment = momentOf(session);
    const rowOf = new Map(rows.map((row) => [row.tenantId, row]));
    return tenantIds.map((tenantId) => {
      const reading = toReading(rowOf.get(tenantId), moment);
      this.remember(tenantId, reading);
      return reading;
    });
  }
}

/** A clock's row as it was read at a moment; a tenant that never published has none. */
export function toReading(row: Pick<ClockRow, "tick" | "types"> | undefined, moment: Moment | undefined): ClockReading {
  const at = moment === undefined ? {} : { moment };
  return row ? { ...at, tick: row.tick, types: row.types ?? {} } : { ...at, types: {} };
}
