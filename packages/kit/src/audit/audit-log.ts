import type { ClientSession, Collection, Db, MongoClient } from "mongodb";
import { MongoServerError } from "mongodb";
import { ConfigError } from "../env.ts";
import { uuidv7 } from "../ids.ts";
import type { Logger } from "../telemetry/log.ts";
import type { AuditAuthor, AuditedChange, AuditEntry } from "./audit-entry.ts";

/** Which entries are listed. */
export interface AuditQuery {
  readonly tenantId: string;
  readonly actor?: string;
  /** Any of them; all actions when it is empty. */
  readonly actions: readonly string[];
  readonly since?: Date;
  readonly until?: Date;
  /** Id of the entry after which the page begins. */
  readonly after?: string;
  readonly limit: number;
}

/** Stores one entry in the transaction that is under way. */
export type RecordChange = (by: AuditAuthor, change: AuditedChange) => Promise<void>;

/** `entries` of the database `<service's database>_audit`: one row per change. */
interface AuditRow extends Omit<AuditEntry, "entryId" | "detail"> {
  /**
   * Tenant, "/" and UUIDv7. So the one index that every collection has lists a tenant's entries by
   * time, and the service's user needs no right to make indexes, of which one could let rows expire.
   */
  _id: string;
  /** JSON. */
  detail: string;
}

const collectionName = "entries";
/** Codes of MongoDB. */
const [unauthorized, namespaceExists] = [13, 48];

/**
 * Keeps the administrative changes of a service, in a database of their own, in which the service's
 * user may read and insert, and nothing else. No entry ever expires.
 */
export class AuditLog {
  readonly #client: MongoClient;
  readonly #entries: Collection<AuditRow>;
  readonly #log: Pick<Logger, "info">;

  private constructor(client: MongoClient, entries: Collection<AuditRow>, log: Pick<Logger, "info">) {
    this.#client = client;
    this.#entries = entries;
    this.#log = log;
  }

  /**
   * Opens the log beside the service's database. The collection is made here, since a transaction on
   * a sharded cluster can make none.
   *
   * @throws ConfigError when the service's user may not append to it
   */
  static async open({ client, db }: { client: MongoClient; db: Db }, log: Pick<Logger, "info">): Promise<AuditLog> {
    const database = client.db(`${db.databaseName}_audit`);
    try {
      await database.createCollection(collectionName);
    } catch (error) {
      const code = error instanceof MongoServerError ? error.code : undefined;
      if (code === unauthorized) {
        const remedy = "run npm run database-users, which gives it the right to";
        throw new ConfigError(`MONGODB_URL: its user may not append to ${database.databaseName}: ${remedy}`);
      }
      if (code !== namespaceExists) throw error;
    }
    return new AuditLog(client, database.collection<AuditRow>(collectionName), log);
  }

  /**
   * Runs a change and its entries in one transaction, again after a conflict with another one. What
   * was recorded is logged once it is committed.
   */
  async transact<T>(work: (session: ClientSession, record: RecordChange) => Promise<T>): Promise<T> {
    let recorded: AuditEntry[] = [];
    const result = await this.#client.withSession((session) =>
      session.withTransaction(async () => {
        recorded = [];
        return work(session, async (by, change) => {
          const entry = { entryId: uuidv7(), at: new Date(), ...by, ...change };
          await this.#entries.insertOne(toRow(entry), { session });
          recorded.push(entry);
        });
      }),
    );
    for (const entry of recorded) this.#log.info(lineOf(entry), "an administrative change");
    return result;
  }

  /** A page of a tenant's entries, newest first. The filters are applied to all that it has. */
  async list(query: AuditQuery, signal?: AbortSignal): Promise<AuditEntry[]> {
    const { tenantId, actor, actions, since, until, after, limit } = query;
    const filter = {
      _id: { $gt: `${tenantId}/`, $lt: after === undefined ? `${tenantId}0` : `${tenantId}/${after}` },
      ...(actor === undefined ? {} : { actor }),
      ...(actions.length > 0 ? { action: { $in: [...actions] } } : {}),
      ...(since || until ? { at: { ...(since ? { $gte: since } : {}), ...(until ? { $lt: until } : {}) } } : {}),
    };
    const options = { sort: { _id: -1 }, limit, maxTimeMS: 5_000, ...(signal ? { signal } : {}) } as const;
    return (await this.#entries.find(filter, options).toArray()).map(fromRow);
  }
}

/** Without the detail: its values are for those who may read the log. */
function lineOf({ entryId: audit, tenantId, action, subject, ...entry }: AuditEntry) {
  const { actor, role, identity, keyPrefix, from, requestId } = entry;
  return { audit, tenantId, action, subject, actor, role, identity, keyPrefix, from, requestId };
}

function toRow({ entryId, detail, ...entry }: AuditEntry): AuditRow {
  return { _id: `${entry.tenantId}/${entryId}`, ...entry, detail: JSON.stringify(detail) };
}

function fromRow({ _id, detail, ...entry }: AuditRow): AuditEntry {
  const entryId = _id.slice(_id.indexOf("/") + 1);
  return { entryId, ...entry, detail: JSON.parse(detail) as AuditEntry["detail"] };
}
