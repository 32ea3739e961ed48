import { DomainError } from "@vidimus/kit/errors";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection, Db, MongoClient } from "mongodb";
import type { Actor } from "../access/access-rules.ts";
import type { TenantRecord } from "../access/key-record.ts";
import { accessCollections } from "./access-database.ts";
import { auditRow } from "./audit-row.ts";
import type { AuditRow, TenantRow } from "./rows.ts";

/** Stores tenants, and an audit row for every change. */
export class TenantStore {
  readonly #client: MongoClient;
  readonly #tenants: Collection<TenantRow>;
  readonly #audit: Collection<AuditRow>;

  constructor(client: MongoClient, db: Db) {
    this.#client = client;
    ({ tenants: this.#tenants, audit: this.#audit } = accessCollections(db));
  }

  /** Adds a tenant; `already_exists` when the id is taken. */
  async insert(tenant: TenantRecord, by: Actor): Promise<void> {
    const { tenantId, name, createdAt, createdBy } = tenant;
    try {
      await this.#client.withSession((session) =>
        session.withTransaction(async () => {
          await this.#tenants.insertOne({ _id: tenantId, name, createdAt, createdBy }, { session });
          await this.#audit.insertOne(auditRow(by, createdAt, "create_tenant", { tenantId, detail: { name } }), {
            session,
          });
        }),
      );
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      throw new DomainError("already_exists", `tenant "${tenantId}" exists already`);
    }
  }

  /** Disables a tenant, and answers its new state; `not_found` when there is none. */
  async disable(tenantId: string, at: Date, by: Actor): Promise<TenantRecord> {
    return this.#client.withSession((session) =>
      session.withTransaction(async () => {
        const row = await this.#tenants.findOne({ _id: tenantId }, { session });
        if (!row) throw new DomainError("not_found", `there is no tenant "${tenantId}"`);
        if (row.disabledAt) return fromRow(row);
        await this.#tenants.updateOne({ _id: tenantId }, { $set: { disabledAt: at } }, { session });
        await this.#audit.insertOne(auditRow(by, at, "disable_tenant", { tenantId, detail: {} }), { session });
        return fromRow({ ...row, disabledAt: at });
      }),
    );
  }

  /** Enables a tenant, and answers its new state; `not_found` when there is none. */
  async enable(tenantId: string, at: Date, by: Actor): Promise<TenantRecord> {
    return this.#client.withSession((session) =>
      session.withTransaction(async () => {
        const row = await this.#tenants.findOne({ _id: tenantId }, { session });
        if (!row) throw new DomainError("not_found", `there is no tenant "${tenantId}"`);
        if (!row.disabledAt) return fromRow(row);
        await this.#tenants.updateOne({ _id: tenantId }, { $unset: { disabledAt: "" } }, { session });
        await this.#audit.insertOne(auditRow(by, at, "enable_tenant", { tenantId, detail: {} }), { session });
        const { disabledAt: _, ...enabled } = row;
        return fromRow(enabled);
      }),
    );
  }

  /** All tenants, by id. */
  async list(): Promise<TenantRecord[]> {
    const rows = await this.#tenants.find({}, { sort: { _id: 1 } }).toArray();
    return rows.map(fromRow);
  }
}

function fromRow(row: TenantRow): TenantRecord {
  const { _id: tenantId, name, createdAt, createdBy, disabledAt } = row;
  return { tenantId, name, createdAt, createdBy, ...(disabledAt ? { disabledAt } : {}) };
}
