import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import type { AuditLog, RecordChange } from "@vidimus/tenancy/audit/audit-log";
import { DomainError } from "@vidimus/kit/errors";
import type { Abortable, ClientSession, Collection, Db, FindOptions } from "mongodb";
import type { MemberRecord, MembershipRecord } from "../access/member-record.ts";
import { accessCollections } from "./access-database.ts";
import { fromRow, memberKey, requireOwnRole } from "./member-change.ts";
import type { FormerMemberRow, MemberRow, TenantRow } from "./rows.ts";
import { lockTenant, noTenant } from "./tenant-lock.ts";

export interface MemberPosition {
  /** `order` of the member's row. */
  readonly order: string;
  readonly memberId: string;
}

interface MemberName {
  readonly memberId: string;
  readonly name: string;
}

interface MemberPage {
  readonly limit: number;
  /** The member after which the page begins. */
  readonly after?: MemberPosition | undefined;
}

/** Stores the members of tenants, and an audit entry with every change. */
export class MemberStore {
  readonly #tenants: Collection<TenantRow>;
  readonly #members: Collection<MemberRow>;
  readonly #former: Collection<FormerMemberRow>;
  readonly #audit: Pick<AuditLog, "transact">;

  constructor(db: Db, audit: Pick<AuditLog, "transact">) {
    this.#audit = audit;
    ({ tenants: this.#tenants, members: this.#members, formerMembers: this.#former } = accessCollections(db));
  }

  /**
   * Throws `permission_denied` when a person asserts a role that it does not have in the tenant.
   */
  async requireOwnRole(tenantId: string, by: Pick<AuditAuthor, "actor" | "role">): Promise<void> {
    await requireOwnRole(this.#members, tenantId, by);
  }

  /**
   * A page of a tenant's members, by name and then by member id. `next` is the position of the last
   * one, undefined when no more follow. `not_found` when the tenant does not exist.
   */
  async list(
    tenantId: string,
    { limit, after }: MemberPage,
    signal: AbortSignal,
  ): Promise<{ members: MemberRecord[]; next: MemberPosition | undefined }> {
    const rows = await this.#find(tenantId, { limit, after }, { signal }).toArray();
    await this.#requireTenant(tenantId, rows, signal);
    const page = rows.slice(0, limit);
    return { members: page.map(fromRow), next: rows.length > limit ? page.at(-1) : undefined };
  }

  /**
   * The same page as `list` gives, with only ids and names. A first page that has all members ends
   * with those who were removed, as far as they fit.
   */
  async listNames(
    tenantId: string,
    { limit, after }: MemberPage,
    signal: AbortSignal,
  ): Promise<{ names: MemberName[]; next: MemberPosition | undefined }> {
    const projection = { _id: 0, memberId: 1, name: 1, order: 1 } as const;
    const found = this.#find(tenantId, { limit, after }, { signal, projection });
    const rows = (await found.toArray()) as (MemberName & MemberPosition)[];
    await this.#requireTenant(tenantId, rows, signal);
    const page = rows.slice(0, limit);
    const names = page.map(({ memberId, name }) => ({ memberId, name }));
    if (rows.length > limit) return { names, next: page.at(-1) };
    const former = after ? [] : await this.#listFormer(tenantId, limit - names.length, signal);
    return { names: [...names, ...former], next: undefined };
  }

  /** People who were removed, by name. */
  async #listFormer(tenantId: string, limit: number, signal: AbortSignal): Promise<MemberName[]> {
    // MongoDB takes a limit of 0 for no limit.
    if (limit === 0) return [];
    const options = { projection: { _id: 0, memberId: 1, name: 1 }, sort: { name: 1 }, limit, signal } as const;
    return this.#former.find({ tenantId }, options).toArray();
  }

  #find(tenantId: string, { limit, after }: MemberPage, options: FindOptions & Abortable) {
    const order = { sort: { order: 1, memberId: 1 }, limit: limit + 1 } as const;
    return this.#members.find({ tenantId, ...(after ? isAfter(after) : {}) }, { ...order, ...options });
  }

  async #requireTenant(tenantId: string, rows: readonly unknown[], signal: AbortSignal): Promise<void> {
    if (rows.length === 0 && !(await this.#tenants.findOne({ _id: tenantId }, { signal }))) throw noTenant(tenantId);
  }

  /** One member; `not_found` when the tenant has no such member. */
  async get(tenantId: string, memberId: string, signal: AbortSignal): Promise<MemberRecord> {
    const row = await this.#members.findOne({ _id: memberKey(tenantId, memberId) }, { signal });
    if (!row) throw noMember(tenantId, memberId);
    return fromRow(row);
  }

  /** The tenants of a person, ordered by tenant id. */
  async listMemberships(memberId: string, signal: AbortSignal): Promise<MembershipRecord[]> {
    const rows = await this.#members.find({ memberId }, { sort: { tenantId: 1 }, signal }).toArray();
    if (rows.length === 0) return [];
    const ids = rows.map(({ tenantId }) => tenantId);
    const tenants = await this.#tenants.find({ _id: { $in: ids } }, { signal }).toArray();
    const byId = new Map(tenants.map((tenant) => [tenant._id, tenant]));
    return rows.flatMap((row) => {
      const tenant = byId.get(row.tenantId);
      return tenant ? { tenantName: tenant.name, tenantDisabled: !!tenant.disabledAt, member: fromRow(row) } : [];
    });
  }

  /**
   * Replaces a member's roles, and returns its new state. `not_found` when the tenant has no such
   * member, `failed_precondition` when the tenant would have no owner any more, `permission_denied`
   * as `requireOwnRole`.
   */
  async updateRoles(
    tenantId: string,
    memberId: string,
    roles: readonly string[],
    by: AuditAuthor,
  ): Promise<MemberRecord> {
    return this.#changing(tenantId, by, async (session, record) => {
      const row = await this.#members.findOne({ _id: memberKey(tenantId, memberId) }, { session });
      if (!row) throw noMember(tenantId, memberId);
      if (row.roles.join() === roles.join()) return fromRow(row);
      if (!roles.includes("owner")) await this.#requireOtherOwner(row, session);
      await this.#members.updateOne({ _id: row._id }, { $set: { roles: [...roles] } }, { session });
      const detail = { roles, before: row.roles };
      await record(by, { tenantId, action: "update_member_roles", subject: memberId, detail });
      return fromRow({ ...row, roles: [...roles] });
    });
  }

  /**
   * Removes a member, if it exists. `failed_precondition` when it is the last owner, `not_found`
   * when there is no such tenant, `permission_denied` as `requireOwnRole`.
   */
  async remove(tenantId: string, memberId: string, by: AuditAuthor): Promise<void> {
    await this.#changing(tenantId, by, async (session, record) => {
      const row = await this.#members.findOne({ _id: memberKey(tenantId, memberId) }, { session });
      if (!row) return;
      await this.#requireOtherOwner(row, session);
      await this.#members.deleteOne({ _id: row._id }, { session });
      await this.#former.replaceOne(
        { _id: row._id },
        { tenantId, memberId, name: row.name },
        { session, upsert: true },
      );
      const detail = { name: row.name, roles: row.roles };
      await record(by, { tenantId, action: "remove_member", subject: memberId, detail });
    });
  }

  async #requireOtherOwner({ tenantId, memberId, roles }: MemberRow, session: ClientSession): Promise<void> {
    if (!roles.includes("owner")) return;
    const others = { tenantId, memberId: { $ne: memberId }, roles: "owner" };
    if (await this.#members.findOne(others, { session })) return;
    throw new DomainError(
      "failed_precondition",
      `${memberId} is the last owner of tenant "${tenantId}": make another one first`,
    );
  }

  /** Runs one transaction on a tenant's members, after checking the author's role. */
  async #changing<T>(
    tenantId: string,
    by: AuditAuthor,
    change: (session: ClientSession, record: RecordChange) => Promise<T>,
  ): Promise<T> {
    return this.#audit.transact(async (session, record) => {
      await lockTenant(this.#tenants, tenantId, "memberChanges", session);
      await requireOwnRole(this.#members, tenantId, by, session);
      return change(session, record);
    });
  }
}

function isAfter({ order, memberId }: MemberPosition) {
  return { order: { $gte: order }, $or: [{ order: { $gt: order } }, { memberId: { $gt: memberId } }] };
}

function noMember(tenantId: string, memberId: string): DomainError {
  return new DomainError("not_found", `tenant "${tenantId}" has no member ${memberId}`);
}
