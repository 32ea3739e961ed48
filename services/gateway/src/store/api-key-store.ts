import { DomainError } from "@vidimus/kit/errors";
import { Binary, type ClientSession, type Collection, type Db, type MongoClient } from "mongodb";
import { type Actor, liveKeysMax } from "../domain/access-rules.ts";
import type { KeyRecord, KnownKey } from "../domain/key-record.ts";
import { isScope } from "../domain/scope.ts";
import { accessCollections } from "./access-database.ts";
import type { ApiKeyRow, AuditRow, TenantRow } from "./rows.ts";
import { auditRow } from "./tenant-store.ts";

/** Keeps the API keys without their secrets, and an audit row for every change of one. */
export class ApiKeyStore {
  readonly #client: MongoClient;
  readonly #tenants: Collection<TenantRow>;
  readonly #keys: Collection<ApiKeyRow>;
  readonly #audit: Collection<AuditRow>;

  constructor(client: MongoClient, db: Db) {
    this.#client = client;
    ({ tenants: this.#tenants, apiKeys: this.#keys, audit: this.#audit } = accessCollections(db));
  }

  /** What verification needs to know of the key with a prefix; undefined when there is none. `unavailable` after `msMax`. */
  async findByPrefix(prefix: string, msMax: number): Promise<KnownKey | undefined> {
    const signal = AbortSignal.timeout(msMax);
    try {
      return await this.#find(prefix, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new DomainError("unavailable", "API keys cannot be checked right now", { cause: error });
    }
  }

  async #find(prefix: string, signal: AbortSignal): Promise<KnownKey | undefined> {
    const row = await this.#keys.findOne({ prefix }, { signal });
    if (!row) return undefined;
    const tenant = await this.#tenants.findOne({ _id: row.tenantId }, { signal });
    return { ...fromRow(row), tenantDisabled: !tenant || tenant.disabledAt !== undefined };
  }

  /**
   * Adds a key. `not_found` when the tenant does not exist, `failed_precondition` when it is disabled or has as many
   * live keys as it may.
   */
  async insert(key: KeyRecord, by: Actor): Promise<void> {
    await this.#changing(key.tenantId, async (session) => {
      await this.#requireRoom(key.tenantId, key.createdAt, session);
      await this.#keys.insertOne(toRow(key), { session });
      const { tenantId, keyId, name, scopes } = key;
      const audit = auditRow(by, key.createdAt, "create_key", { tenantId, keyId, detail: { name, scopes } });
      await this.#audit.insertOne(audit, { session });
    });
  }

  /** The tenant's keys, newest first, revoked ones included; `not_found` when the tenant does not exist. */
  async list(tenantId: string): Promise<KeyRecord[]> {
    const rows = await this.#keys.find({ tenantId }, { sort: { createdAt: -1, _id: -1 } }).toArray();
    if (rows.length === 0 && !(await this.#tenants.findOne({ _id: tenantId }))) throw noTenant(tenantId);
    return rows.map(fromRow);
  }

  /** One transaction on a tenant's keys. The tenant's row is written first: changes of one tenant come one by one. */
  async #changing(tenantId: string, change: (session: ClientSession) => Promise<void>): Promise<void> {
    await this.#client.withSession((session) =>
      session.withTransaction(async () => {
        const tenant = await this.#tenants.findOneAndUpdate(
          { _id: tenantId },
          { $inc: { keyChanges: 1 } },
          { session },
        );
        if (!tenant) throw noTenant(tenantId);
        if (tenant.disabledAt) throw new DomainError("failed_precondition", `tenant "${tenantId}" is disabled`);
        await change(session);
      }),
    );
  }

  async #requireRoom(tenantId: string, now: Date, session: ClientSession): Promise<void> {
    const live = await this.#keys.countDocuments(
      { tenantId, revokedAt: { $exists: false }, expiresAt: { $not: { $lte: now } } },
      { session },
    );
    if (live < liveKeysMax) return;
    throw new DomainError("failed_precondition", `tenant "${tenantId}" has ${live} live keys, as many as it may`);
  }
}

function noTenant(tenantId: string): DomainError {
  return new DomainError("not_found", `there is no tenant "${tenantId}"`);
}

function toRow(key: KeyRecord): ApiKeyRow {
  const { keyId, hash, scopes, ...rest } = key;
  return { _id: keyId, ...rest, hash: new Binary(hash), hashAlg: "sha256", scopes: [...scopes] };
}

function fromRow(row: ApiKeyRow): KeyRecord {
  const { _id: keyId, hash, hashAlg: _, scopes, ...rest } = row;
  return { keyId, ...rest, hash: Buffer.from(hash.value()), scopes: scopes.filter(isScope) };
}
