import { DomainError } from "@vidimus/kit/errors";
import { isDuplicateKey } from "@vidimus/kit/mongo-errors";
import { uuidv7 } from "@vidimus/kit/uuid";
import type { Collection, Db, MongoClient } from "mongodb";
import type { Actor } from "../domain/access-rules.ts";
import type { TenantRecord } from "../domain/key-record.ts";
import { accessCollections } from "./access-database.ts";
import type { AuditRow, TenantRow } from "./rows.ts";

/** Keeps the tenants, and an audit row for every change of one. */
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

  /** All tenants, by id. */
  async list(): Promise<TenantRecord[]> {
    const rows = await this.#tenants.find({}, { sort: { _id: 1 } }).toArray();
    return rows.map(fromRow);
  }
}

/** An audit row for a change. */
export function auditRow(
  by: Actor,
  at: Date,
  action: string,
  subject: Pick<AuditRow, "tenantId" | "keyId" | "detail">,
): AuditRow {
  return { _id: uuidv7(), at, actor: by.actor, role: by.role, requestId: by.requestId, action, ...subject };
}

function fromRow(row: TenantRow): TenantRecord {
  const { _id: tenantId, name, createdAt, createdBy, disabledAt } = row;
  return { tenantId, name, createdAt, createdBy, ...(disabledAt ? { disabledAt } : {}) };
}
