import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import type { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { DomainError } from "@vidimus/kit/errors";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection, Db } from "mongodb";
import type { TenantRecord } from "../access/key-record.ts";
import { accessCollections } from "./access-database.ts";
import type { TenantRow } from "./rows.ts";
import { noTenant } from "./tenant-lock.ts";

/** Stores tenants, and an audit entry with every change. */
export class TenantStore {
  readonly #tenants: Collection<TenantRow>;
  readonly #audit: Pick<AuditLog, "transact">;

  constructor(db: Db, audit: Pick<AuditLog, "transact">) {
    this.#audit = audit;
    ({ tenants: this.#tenants } = accessCollections(db));
  }

  /** Adds a tenant; `already_exists` when the id is taken. */
  async insert(tenant: TenantRecord, by: AuditAuthor): Promise<void> {
    const { tenantId, name, createdAt, createdBy } = tenant;
    try {
      await this.#audit.transact(async (session, record) => {
        await this.#tenants.insertOne({ _id: tenantId, name, createdAt, createdBy }, { session });
        await record(by, { tenantId, action: "create_tenant", subject: tenantId, detail: { name } });
      });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      throw new DomainError("already_exists", `tenant "${tenantId}" exists already`);
    }
  }

  /** Returns the tenant's new state; `not_found` when there is no such tenant. */
  async disable(tenantId: string, at: Date, by: AuditAuthor): Promise<TenantRecord> {
    return this.#audit.transact(async (session, record) => {
      const row = await this.#tenants.findOne({ _id: tenantId }, { session });
      if (!row) throw noTenant(tenantId);
      if (row.disabledAt) return fromRow(row);
      await this.#tenants.updateOne({ _id: tenantId }, { $set: { disabledAt: at } }, { session });
      await record(by, { tenantId, action: "disable_tenant", subject: tenantId, detail: {} });
      return fromRow({ ...row, disabledAt: at });
    });
  }

  /** Returns the tenant's new state; `not_found` when there is no such tenant. */
  async enable(tenantId: string, by: AuditAuthor): Promise<TenantRecord> {
    return this.#audit.transact(async (session, record) => {
      const row = await this.#tenants.findOne({ _id: tenantId }, { session });
      if (!row) throw noTenant(tenantId);
      if (!row.disabledAt) return fromRow(row);
      await this.#tenants.updateOne({ _id: tenantId }, { $unset: { disabledAt: "" } }, { session });
      await record(by, { tenantId, action: "enable_tenant", subject: tenantId, detail: {} });
      const { disabledAt: _, ...enabled } = row;
      return fromRow(enabled);
    });
  }

  /** All tenants, ordered by id. */
  async list(): Promise<TenantRecord[]> {
    const rows = await this.#tenants.find({}, { sort: { _id: 1 } }).toArray();
    return rows.map(fromRow);
  }
}

function fromRow(row: TenantRow): TenantRecord {
  const { _id: tenantId, name, createdAt, createdBy, disabledAt } = row;
  return { tenantId, name, createdAt, createdBy, ...(disabledAt ? { disabledAt } : {}) };
}
