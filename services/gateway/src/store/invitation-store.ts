import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import type { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { DomainError } from "@vidimus/kit/errors";
import { isPersonActor } from "@vidimus/kit/rpc/context/person";
import { Binary, type ClientSession, type Collection, type Db } from "mongodb";
import type { InvitationRecord, MemberRecord, Newcomer } from "../access/member-record.ts";
import { mayGive, newMember, openInvitationsMax } from "../access/member-rules.ts";
import { accessCollections } from "./access-database.ts";
import { fromRow as memberFromRow, joinMember, memberKey, requireOwnRole } from "./member-change.ts";
import type { FormerMemberRow, InvitationRow, MemberRow, TenantRow } from "./rows.ts";
import { lockTenant, requireEnabled } from "./tenant-lock.ts";

/** Stores invitations by the hashes of their codes, and an audit entry with every change. */
export class InvitationStore {
  readonly #tenants: Collection<TenantRow>;
  readonly #members: Collection<MemberRow>;
  readonly #former: Collection<FormerMemberRow>;
  readonly #invitations: Collection<InvitationRow>;
  readonly #audit: Pick<AuditLog, "transact">;

  constructor(db: Db, audit: Pick<AuditLog, "transact">) {
    this.#audit = audit;
    ({
      tenants: this.#tenants,
      members: this.#members,
      formerMembers: this.#former,
      invitations: this.#invitations,
    } = accessCollections(db));
  }

  /**
   * Adds an invitation. `not_found` when the tenant does not exist, `failed_precondition` when the
   * tenant is disabled or has 100 open invitations, `permission_denied` as `requireOwnRole`.
   */
  async insert(invitation: InvitationRecord, hash: Buffer, by: AuditAuthor): Promise<void> {
    const { tenantId, invitationId, roles, note, createdAt } = invitation;
    await this.#audit.transact(async (session, record) => {
      requireEnabled(await lockTenant(this.#tenants, tenantId, "memberChanges", session));
      await requireOwnRole(this.#members, tenantId, by, session);
      const open = await this.#invitations.countDocuments(isOpen(tenantId, createdAt), { session });
      if (open >= openInvitationsMax) {
        const most = `tenant "${tenantId}" has ${open} open invitations, as many as it may: revoke some`;
        throw new DomainError("failed_precondition", most);
      }
      await this.#invitations.insertOne(toRow(invitation, hash), { session });
      await record(by, { tenantId, action: "invite_member", subject: invitationId, detail: { roles, note } });
    });
  }

  /** The open invitations of a tenant, newest first. */
  async list(tenantId: string, now: Date, signal: AbortSignal): Promise<InvitationRecord[]> {
    const options = { sort: { _id: -1 }, limit: openInvitationsMax, signal } as const;
    return (await this.#invitations.find(isOpen(tenantId, now), options).toArray()).map(fromRow);
  }

  /**
   * Revokes an invitation; has no effect when it is revoked already. `check` may throw to refuse
   * the revocation. `not_found` when the tenant has no invitation with that id,
   * `failed_precondition` when the invitation was accepted, `permission_denied` as
   * `requireOwnRole`.
   */
  async revoke(
    tenantId: string,
    invitationId: string,
    by: AuditAuthor,
    check: (invitation: InvitationRecord) => void,
  ): Promise<void> {
    await this.#audit.transact(async (session, record) => {
      await lockTenant(this.#tenants, tenantId, "memberChanges", session);
      await requireOwnRole(this.#members, tenantId, by, session);
      const row = await this.#invitations.findOne({ _id: invitationId, tenantId }, { session });
      if (!row) throw new DomainError("not_found", `tenant "${tenantId}" has no invitation ${invitationId}`);
      check(fromRow(row));
      if (row.state === "revoked") return;
      if (row.state === "accepted") throw accepted(row);
      await this.#invitations.updateOne({ _id: row._id }, { $set: { state: "revoked" } }, { session });
      await record(by, {
        tenantId,
        action: "revoke_invitation",
        subject: invitationId,
        detail: { roles: row.roles, note: row.note },
      });
    });
  }

  /**
   * The open invitation with a code, and the name of its tenant; `not_found` when there is none.
   */
  async find(hash: Buffer, now: Date): Promise<{ invitation: InvitationRecord; tenantName: string }> {
    const row = await this.#invitations.findOne({ hash: new Binary(hash), state: "open", expiresAt: { $gt: now } });
    const tenant = row && (await this.#tenants.findOne({ _id: row.tenantId }));
    if (!tenant) throw noInvitation();
    return { invitation: fromRow(row), tenantName: tenant.name };
  }

  /**
   * Accepts the invitation with a code, and returns the member, also when the same person accepts
   * it again. `not_found` when there is no such invitation, `failed_precondition` when its inviter
   * may no longer give its roles, or the tenant is disabled.
   */
  async accept(hash: Buffer, person: Newcomer, by: AuditAuthor, now: Date): Promise<MemberRecord> {
    return this.#audit.transact(async (session, record) => {
      const row = await this.#invitations.findOne({ hash: new Binary(hash), expiresAt: { $gt: now } }, { session });
      if (row?.state === "accepted") return this.#acceptedBefore(row, person, session);
      if (row?.state !== "open") throw noInvitation();
      const { _id: invitationId, tenantId, roles, invitedBy } = row;
      requireEnabled(await lockTenant(this.#tenants, tenantId, "memberChanges", session));
      await this.#requireInviter(row, session);
      const state = { state: "accepted", acceptedBy: person.memberId } as const;
      await this.#invitations.updateOne({ _id: invitationId }, { $set: state }, { session });
      const asked = newMember(person, { tenantId, roles, createdAt: now, invitedBy });
      const member = await joinMember({ members: this.#members, formerMembers: this.#former }, asked, session);
      const detail = { invitationId, name: member.name, roles: member.roles };
      await record(by, { tenantId, action: "accept_invitation", subject: member.memberId, detail });
      return member;
    });
  }

  async #acceptedBefore(
    { tenantId, acceptedBy }: InvitationRow,
    { memberId }: Newcomer,
    session: ClientSession,
  ): Promise<MemberRecord> {
    const row =
      acceptedBy === memberId && (await this.#members.findOne({ _id: memberKey(tenantId, memberId) }, { session }));
    if (!row) throw noInvitation();
    return memberFromRow(row);
  }

  /**
   * Refuses an invitation whose inviter may no longer give its roles. Only people are looked up:
   * other inviters had the right by the grant (`docs/security.md`) of the program that called.
   */
  async #requireInviter({ tenantId, invitedBy, roles }: InvitationRow, session: ClientSession): Promise<void> {
    if (!isPersonActor(invitedBy)) return;
    const inviter = await this.#members.findOne({ _id: memberKey(tenantId, invitedBy) }, { session });
    if (inviter && mayGive(inviter.roles, roles)) return;
    throw new DomainError("failed_precondition", "who sent this invitation may not give its roles any more");
  }
}

function isOpen(tenantId: string, now: Date) {
  return { tenantId, state: "open", expiresAt: { $gt: now } } as const;
}

/** The same answer in all cases, because only the invited person may know which codes exist. */
function noInvitation(): DomainError {
  return new DomainError(
    "not_found",
    "there is no such invitation: it was accepted or revoked, has ended, or never was",
  );
}

function accepted({ _id, acceptedBy = "" }: InvitationRow): DomainError {
  return new DomainError("failed_precondition", `invitation ${_id} was accepted: remove member ${acceptedBy} instead`);
}

function toRow({ invitationId, roles, ...rest }: InvitationRecord, hash: Buffer): InvitationRow {
  return { _id: invitationId, ...rest, roles: [...roles], hash: new Binary(hash), state: "open" };
}

function fromRow(row: InvitationRow): InvitationRecord {
  const { _id: invitationId, tenantId, roles, note, invitedBy, createdAt, expiresAt } = row;
  return { invitationId, tenantId, roles, note, invitedBy, createdAt, expiresAt };
}
