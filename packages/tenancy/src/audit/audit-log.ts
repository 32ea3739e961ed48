import type { ClientSession, Collection, Db, MongoClient } from "mongodb";
import { MongoServerError } from "mongodb";
import { ConfigError } from "@vidimus/kit/env";
import { uuidv7 } from "@vidimus/kit/ids";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { AuditAuthor, AuditedChange, AuditEntry } from "./audit-entry.ts";

export interface AuditQuery {
  readonly tenantId: string;
  readonly actor?: string;
  /** Lists entries with any of these actions; all entries when it is empty. */
  readonly actions: readonly string[];
  readonly since?: Date;
  readonly until?: Date;
  /** Id of the entry after which the page begins. */
  readonly after?: string;
  readonly limit: number;
}

/** Stores one entry in the current transaction. */
export type RecordChange = (by: AuditAuthor, change: AuditedChange) => Promise<void>;

/** `entries` of the database `<service's database>_audit`: one row per change. */
interface AuditRow extends Omit<AuditEntry, "entryId" | "detail"> {
  /**
   * Tenant, "/" and UUIDv7, so that the index of `_id` lists a tenant's entries by time. The
   * service's user then needs no right to make indexes. With that right it could delete entries by
   * an index that expires rows.
   */
  _id: string;
  detail: string;
}

const collectionName = "entries";
/** Codes of MongoDB. */
const [unauthorized, namespaceExists] = [13, 48];

/**
 * Keeps the administrative changes of a service in a database of their own, in which the service's
 * user may read and insert, and neither change nor delete. Entries never expire.
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
   * Makes the log's collection now, because a transaction across shards cannot make one.
   *
   * @throws ConfigError when the service's user has no right to make the collection
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
   * Runs a change and records its entries in one transaction. After a transient error, such as a
   * conflict, `work` runs again. The entries are logged after the commit.
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

  /** A page of a tenant's entries, newest first. */
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

/** Without `detail`, because only callers who may read the audit log may see its values. */
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
