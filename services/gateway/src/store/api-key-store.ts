import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import type { AuditLog, RecordChange } from "@vidimus/tenancy/audit/audit-log";
import { DomainError } from "@vidimus/kit/errors";
import { Binary, type ClientSession, type Collection, type Db } from "mongodb";
import { liveKeysMax } from "../access/access-rules.ts";
import type { KeyRecord, KnownKey } from "../access/key-record.ts";
import { isScope } from "../access/scopes.ts";
import { accessCollections } from "./access-database.ts";
import type { ApiKeyRow, TenantRow } from "./rows.ts";
import { lockTenant, noTenant, requireEnabled } from "./tenant-lock.ts";

/** A change of one key, and its name in the audit log. */
interface KeyChange {
  readonly action: "update_key_scopes" | "roll_key" | "revoke_key";
  /** Fields with new values; empty when nothing changes. */
  readonly fields: Partial<Pick<KeyRecord, "scopes" | "expiresAt" | "revokedAt" | "replacedBy">>;
  /** A key to add in the same transaction. */
  readonly successor?: KeyRecord;
}

/**
 * Reads the primary's own state. The majority's state lags behind a revocation whose confirmation
 * was lost, and the stale key would be cached for ten seconds. If the revocation is rolled back, a
 * valid key is refused for up to ten seconds.
 */
const lookupReadConcern = { level: "local" } as const;

interface KeyPage {
  readonly limit: number;
  /** The key after which the page begins. */
  readonly after?: Pick<KeyRecord, "createdAt" | "keyId"> | undefined;
  /** Lists only keys that are valid at this time. */
  readonly liveAt?: Date;
}

interface KeysTransaction {
  readonly session: ClientSession;
  /** The tenant's row before the transaction. */
  readonly tenant: TenantRow;
  readonly record: RecordChange;
}

/** Stores API keys without their secrets, and an audit entry with every change but the last use. */
export class ApiKeyStore {
  readonly #tenants: Collection<TenantRow>;
  readonly #keys: Collection<ApiKeyRow>;
  readonly #audit: Pick<AuditLog, "transact">;

  constructor(db: Db, audit: Pick<AuditLog, "transact">) {
    this.#audit = audit;
    ({ tenants: this.#tenants, apiKeys: this.#keys } = accessCollections(db));
  }

  /**
   * The key that has a prefix, with the state of its tenant; undefined when there is none.
   * `unavailable` after `msMax` milliseconds.
   */
  async findByPrefix(prefix: string, msMax: number): Promise<KnownKey | undefined> {
    const signal = AbortSignal.timeout(msMax);
    try {
      return await this.#find(prefix, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new DomainError("unavailable", "API keys cannot be checked right now", { cause: error });
    }
  }

  /**
   * Adds a key. `not_found` when the tenant does not exist, `failed_precondition` when it is
   * disabled or has 50 live keys.
   */
  async insert(key: KeyRecord, by: AuditAuthor): Promise<void> {
    await this.#changing(key.tenantId, async (transaction) => {
      requireEnabled(transaction.tenant);
      await this.#add(key, by, transaction);
    });
  }

  /**
   * Changes one key, and returns its new state. `change` may throw to refuse the change, and runs
   * again after a conflict. `not_found` when the tenant has no such key, `failed_precondition` when
   * a successor would exceed 50 live keys.
   */
  async update(
    tenantId: string,
    keyId: string,
    by: AuditAuthor,
    change: (key: KeyRecord) => KeyChange,
  ): Promise<KeyRecord> {
    return this.#changing(tenantId, async (transaction) => {
      const { session, record } = transaction;
      const row = await this.#keys.findOne({ tenantId, _id: keyId }, { session });
      if (!row) throw noKey(tenantId, keyId);
      const { action, fields, successor } = change(fromRow(row));
      if (Object.keys(fields).length === 0) return fromRow(row);
      const changed = { ...row, ...fields, scopes: [...(fields.scopes ?? row.scopes)] };
      await this.#keys.replaceOne({ tenantId, _id: keyId }, changed, { session });
      if (successor) await this.#add(successor, by, transaction);
      await record(by, { tenantId, action, subject: keyId, detail: { prefix: row.prefix, ...fields } });
      return fromRow(changed);
    });
  }

  /**
   * A page of the tenant's keys, newest first; without `liveAt` including revoked and expired ones.
   * `not_found` when the tenant does not exist.
   */
  async list(tenantId: string, { limit, after, liveAt }: KeyPage, signal: AbortSignal): Promise<KeyRecord[]> {
    const options = { sort: { createdAt: -1, _id: -1 }, limit, signal } as const;
    const filter = { tenantId, ...(after && isAfter(after)), ...(liveAt && isLive(liveAt)) };
    const rows = await this.#keys.find(filter, options).toArray();
    if (rows.length === 0 && !(await this.#tenants.findOne({ _id: tenantId }, { signal }))) throw noTenant(tenantId);
    return rows.map(fromRow);
  }

  async get(tenantId: string, keyId: string, signal: AbortSignal): Promise<KeyRecord> {
    const row = await this.#keys.findOne({ tenantId, _id: keyId }, { signal });
    if (!row) throw noKey(tenantId, keyId);
    return fromRow(row);
  }

  /** Stores when keys were last used; an older time never replaces a newer one. */
  async touch(lastUsed: ReadonlyMap<string, Date>): Promise<void> {
    const writes = Array.from(lastUsed, ([_id, lastUsedAt]) => ({
      updateOne: { filter: { _id }, update: { $max: { lastUsedAt } } },
    }));
    await this.#keys.bulkWrite(writes, { ordered: false });
  }

  async #find(prefix: string, signal: AbortSignal): Promise<KnownKey | undefined> {
    const options = { signal, readConcern: lookupReadConcern };
    const row = await this.#keys.findOne({ prefix }, options);
    if (!row) return undefined;
    const tenant = await this.#tenants.findOne({ _id: row.tenantId }, options);
    return { ...fromRow(row), tenantDisabled: !tenant || tenant.disabledAt !== undefined };
  }

  /** Runs one transaction on a tenant's keys; concurrent ones run one after the other. */
  async #changing<T>(tenantId: string, change: (transaction: KeysTransaction) => Promise<T>): Promise<T> {
    return this.#audit.transact(async (session, record) => {
      const tenant = await lockTenant(this.#tenants, tenantId, "keyChanges", session);
      return change({ session, tenant, record });
    });
  }

  async #add(key: KeyRecord, by: AuditAuthor, { session, record }: KeysTransaction): Promise<void> {
    const { tenantId, keyId, prefix, name, scopes, createdAt, expiresAt } = key;
    const live = await this.#keys.countDocuments({ tenantId, ...isLive(createdAt) }, { session });
    if (live >= liveKeysMax) {
      throw new DomainError("failed_precondition", `tenant "${tenantId}" has ${live} live keys, as many as it may`);
    }
    await this.#keys.insertOne(toRow(key), { session });
    const detail = { prefix, name, scopes, ...(expiresAt ? { expiresAt } : {}) };
    await record(by, { tenantId, action: "create_key", subject: keyId, detail });
  }
}

function isAfter({ createdAt, keyId }: Pick<KeyRecord, "createdAt" | "keyId">) {
  return { createdAt: { $lte: createdAt }, $or: [{ createdAt: { $lt: createdAt } }, { _id: { $lt: keyId } }] };
}

function isLive(at: Date) {
  return { revokedAt: { $exists: false }, expiresAt: { $not: { $lte: at } } };
}

function noKey(tenantId: string, keyId: string): DomainError {
  return new DomainError("not_found", `tenant "${tenantId}" has no key ${keyId}`);
}

function toRow(key: KeyRecord): ApiKeyRow {
  const { keyId, hash, scopes, ...rest } = key;
  return { _id: keyId, ...rest, hash: new Binary(hash), hashAlg: "sha256", scopes: [...scopes] };
}

function fromRow(row: ApiKeyRow): KeyRecord {
  const { _id: keyId, hash, hashAlg: _, scopes, ...rest } = row;
  return { keyId, ...rest, hash: Buffer.from(hash.value()), scopes: scopes.filter(isScope) };
}
