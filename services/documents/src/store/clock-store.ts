import { DomainError } from "@vidimus/kit/errors";
import { isMongoTimeout, isMongoUnavailable } from "@vidimus/kit/mongo/mongo-errors";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { shareCalls } from "@vidimus/kit/queues/share-calls";
import { LRUCache } from "lru-cache";
import type { Collection, Db, MongoClient } from "mongodb";
import type { ClockReader, ClockReading, Moment } from "../domain/published-reads/tenant-clock.ts";
import { momentOf, readAtMoment } from "./causal-session.ts";
import type { ClockRow } from "./rows.ts";

/** Most tenants whose newest reading is remembered. */
const rememberedMax = 10_000;
/**
 * Longest time of a linearizable read; less than the ten seconds that a gateway waits for a page.
 */
const confirmMsMax = 5_000;

/** Reads the tenants' clocks. `TransitionStore` writes them. */
export class ClockStore implements ClockReader {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #clocks: Collection<ClockRow>;
  readonly #read: (tenantId: string) => Promise<ClockReading>;
  readonly #confirm: (tenantId: string) => Promise<ClockReading>;
  readonly #remembered = new LRUCache<string, ClockReading>({ max: rememberedMax });

  constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#db = db;
    this.#clocks = db.collection("clocks");
    this.#read = createBatcher<string, ClockReading>({
      itemsMax: 1_000,
      // Several reads may run at once, so that a slow one does not delay all tenants' readers.
      inFlightMax: 4,
      run: (tenantIds) => this.#readAll(tenantIds),
    });
    const late = { lateMs: confirmMsMax, outMax: 1 };
    this.#confirm = shareCalls(
      (tenantId: string) => tenantId,
      (tenantId) => this.#readLinearizable(tenantId),
      late,
    );
  }

  /**
   * Reads a tenant's clock. No call joins a running read, which may have begun before a publication
   * that the caller must see. Calls that arrive while four reads run share the next one.
   */
  read(tenantId: string): Promise<ClockReading> {
    return this.#read(tenantId);
  }

  confirm(tenantId: string): Promise<ClockReading> {
    return this.#confirm(tenantId);
  }

  recall(tenantId: string): ClockReading | undefined {
    return this.#remembered.get(tenantId);
  }

  /**
   * Remembers a reading for `recall` if its tick is later than the remembered one. Readings come
   * from reads and from this process's commits. Of readings with the same tick the first is kept,
   * so that cursors have the same moment until the next publication.
   */
  remember(tenantId: string, reading: ClockReading): void {
    const known = this.#remembered.get(tenantId);
    if (!known || (reading.tick?.getTime() ?? 0) > (known.tick?.getTime() ?? 0)) {
      this.#remembered.set(tenantId, reading);
    }
  }

  async #readAll(tenantIds: readonly string[]): Promise<ClockReading[]> {
    const distinct = [...new Set(tenantIds)];
    return readAtMoment(this.#client, undefined, async (session) => {
      const rows = await this.#clocks.find({ tenantId: { $in: distinct } }, { session, maxTimeMS: 5_000 }).toArray();
      const moment = momentOf(session);
      const rowOf = new Map(rows.map((row) => [row.tenantId, row]));
      return tenantIds.map((tenantId) => this.#newest(tenantId, toReading(rowOf.get(tenantId), moment)));
    });
  }

  /**
   * A linearizable read: the primary answers after it has confirmed that it still is the primary.
   * The driver shows the moment of a read only in a causal session or in a plain command's answer.
   * A causal session adds a moment to a read that it repeats, and MongoDB refuses a linearizable
   * read with a moment, so the read is a plain command.
   */
  async #readLinearizable(tenantId: string): Promise<ClockReading> {
    const find = { find: this.#clocks.collectionName, filter: { tenantId }, limit: 1, singleBatch: true };
    const command = { ...find, readConcern: { level: "linearizable" }, maxTimeMS: confirmMsMax };
    const read = () => this.#db.command(command);
    try {
      const answer = await read().catch((error: unknown) => {
        if (isMongoUnavailable(error)) return read();
        throw error;
      });
      const [row] = answer["cursor"].firstBatch as ClockRow[];
      return this.#newest(tenantId, toReading(row, momentOf({ operationTime: answer["operationTime"] })));
    } catch (error) {
      if (!isMongoUnavailable(error) && !isMongoTimeout(error)) throw error;
      throw new DomainError("unavailable", "no primary of the database confirms what is published; try again");
    }
  }

  /**
   * Remembers a reading and returns the newest remembered one, because after a failover a new
   * reading may be older than an earlier one.
   */
  #newest(tenantId: string, reading: ClockReading): ClockReading {
    this.remember(tenantId, reading);
    return this.recall(tenantId) ?? reading;
  }
}

/** A clock's row as it was read at a moment; a tenant that never published has no row. */
export function toReading(row: Pick<ClockRow, "tick" | "types"> | undefined, moment: Moment | undefined): ClockReading {
  const at = moment === undefined ? {} : { moment };
  return row ? { ...at, tick: row.tick, types: row.types ?? {} } : { ...at, types: {} };
}
