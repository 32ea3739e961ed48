import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import type { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { DomainError } from "@vidimus/kit/errors";
import { personActor } from "@vidimus/kit/rpc/context/person";
import { Binary, type Collection, type Db } from "mongodb";
import type { MemberRecord, SignInLinkRecord } from "../access/member-record.ts";
import { newcomer, newMember } from "../access/member-rules.ts";
import { accessCollections } from "./access-database.ts";
import { fromRow as memberFromRow, joinMember, memberKey } from "./member-change.ts";
import type { FormerMemberRow, MemberRow, SignInLinkRow, TenantRow } from "./rows.ts";
import { lockTenant } from "./tenant-lock.ts";

/** Stores sign-in links by the hashes of their codes, and an audit entry with every change. */
export class SignInLinkStore {
  readonly #tenants: Collection<TenantRow>;
  readonly #members: Collection<MemberRow>;
  readonly #former: Collection<FormerMemberRow>;
  readonly #links: Collection<SignInLinkRow>;
  readonly #audit: Pick<AuditLog, "transact">;

  constructor(db: Db, audit: Pick<AuditLog, "transact">) {
    this.#audit = audit;
    ({
      tenants: this.#tenants,
      members: this.#members,
      formerMembers: this.#former,
      signInLinks: this.#links,
    } = accessCollections(db));
  }

  /**
   * Adds a link. `not_found` when the tenant does not exist, `failed_precondition` when the
   * identity is a member with other roles than the requested ones.
   *
   * @param link if it has no roles, it gets those of the member, or owner when the identity is no
   * member yet
   */
  async insert(link: SignInLinkRecord, hash: Buffer, by: AuditAuthor): Promise<void> {
    const { tenantId, identity, expiresAt } = link;
    await this.#audit.transact(async (session, record) => {
      await lockTenant(this.#tenants, tenantId, "memberChanges", session);
      const subject = personActor(identity);
      const member = await this.#members.findOne({ _id: memberKey(tenantId, subject) }, { session });
      if (member && link.roles.length > 0) requireSameRoles(member, link.roles);
      const roles = member?.roles ?? (link.roles.length > 0 ? link.roles : ["owner"]);
      await this.#links.insertOne(toRow({ ...link, roles }, hash), { session });
      const detail = { name: identity.subject, roles, expiresAt };
      await record(by, { tenantId, action: "create_sign_in_link", subject, detail });
    });
  }

  /**
   * The link of a code, with the present roles of its member, if there is one, and the name of its
   * tenant; `not_found` when there is no such code.
   */
  async find(hash: Buffer, now: Date): Promise<{ link: SignInLinkRecord; tenantName: string }> {
    const row = await this.#links.findOne({ _id: new Binary(hash), expiresAt: { $gt: now } });
    const tenant = row && (await this.#tenants.findOne({ _id: row.tenantId }));
    if (!tenant) throw noLink();
    const link = fromRow(row);
    const member = await this.#members.findOne({ _id: memberKey(row.tenantId, personActor(link.identity)) });
    return { link: { ...link, roles: member?.roles ?? link.roles }, tenantName: tenant.name };
  }

  /**
   * Uses a code, and returns the member of its identity, which is added if there is none.
   * `not_found` when there is no such code: of two concurrent calls one deletes the row, and the
   * other conflicts with it, runs again and finds none.
   */
  async redeem(hash: Buffer, by: AuditAuthor, now: Date): Promise<MemberRecord> {
    return this.#audit.transact(async (session, record) => {
      const row = await this.#links.findOneAndDelete({ _id: new Binary(hash), expiresAt: { $gt: now } }, { session });
      if (!row) throw noLink();
      const { tenantId, createdBy: invitedBy, roles } = row;
      await lockTenant(this.#tenants, tenantId, "memberChanges", session);
      const person = newcomer(fromRow(row).identity, row.subject);
      const known = await this.#members.findOne({ _id: memberKey(tenantId, person.memberId) }, { session });
      const asked = newMember(person, { tenantId, roles, createdAt: now, invitedBy });
      const member = known
        ? memberFromRow(known)
        : await joinMember({ members: this.#members, formerMembers: this.#former }, asked, session);
      const detail = { name: member.name, roles: member.roles };
      await record(by, { tenantId, action: "redeem_sign_in_link", subject: member.memberId, detail });
      return member;
    });
  }
}

function requireSameRoles({ tenantId, subject, roles }: MemberRow, asked: readonly string[]): void {
  if (roles.join() === asked.join()) return;
  const held = roles.join(", ");
  throw new DomainError(
    "failed_precondition",
    `"${subject}" is a member of tenant "${tenantId}" with the roles ${held} already: a link does not change them`,
  );
}

/** The same answer in all cases, because only the receiver of a code may know which codes exist. */
function noLink(): DomainError {
  return new DomainError("not_found", "there is no such sign-in code: it was used, has ended, or never was");
}

function toRow({ identity, roles, ...rest }: SignInLinkRecord, hash: Buffer): SignInLinkRow {
  return { _id: new Binary(hash), ...rest, ...identity, roles: [...roles] };
}

function fromRow({ _id, issuer, subject, ...rest }: SignInLinkRow): SignInLinkRecord {
  return { ...rest, identity: { issuer, subject } };
}
