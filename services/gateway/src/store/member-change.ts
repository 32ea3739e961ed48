import type { AuditAuthor } from "@vidimus/kit/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { comparableName } from "@vidimus/kit/comparable-name";
import { isPersonActor } from "@vidimus/kit/person";
import type { ClientSession, Collection } from "mongodb";
import type { MemberRecord } from "../access/member-record.ts";
import type { MemberRow } from "./rows.ts";

/** The `_id` of a member. */
export function memberKey(tenantId: string, memberId: string): string {
  return `${tenantId}/${memberId}`;
}

/**
 * Throws `permission_denied` unless the role that a person speaks for is one that this member has in
 * the tenant. Other actors speak for the roles of their caller's grant.
 */
export async function requireOwnRole(
  members: Collection<MemberRow>,
  tenantId: string,
  { actor, role }: Pick<AuditAuthor, "actor" | "role">,
  session?: ClientSession,
): Promise<void> {
  if (!isPersonActor(actor)) return;
  const row = await members.findOne({ _id: memberKey(tenantId, actor) }, session ? { session } : {});
  if (row?.roles.includes(role)) return;
  throw new DomainError("permission_denied", `${actor} does not have the role "${role}" in tenant "${tenantId}"`);
}

/**
 * Adds a member, or roles to one that is there; its name and address are those it comes with.
 *
 * @returns the member as it stands then
 */
export async function joinMember(
  members: Collection<MemberRow>,
  member: MemberRecord,
  session: ClientSession,
): Promise<MemberRecord> {
  const row = toRow(member);
  const known = await members.findOne({ _id: row._id }, { session });
  const roles = [...new Set([...(known?.roles ?? []), ...row.roles])].toSorted();
  const { createdAt, invitedBy } = known ?? row;
  const joined = { ...row, roles, createdAt, invitedBy };
  await members.replaceOne({ _id: row._id }, joined, { session, upsert: true });
  return fromRow(joined);
}

/** Characters of a name by which members are listed: a page token holds them. */
const orderCharacters = 64;

function orderOf(name: string): string {
  return Array.from(comparableName(name)).slice(0, orderCharacters).join("");
}

/** A member as it is stored. */
export function toRow({ tenantId, memberId, identity, roles, ...rest }: MemberRecord): MemberRow {
  const _id = memberKey(tenantId, memberId);
  return { _id, tenantId, memberId, ...identity, ...rest, order: orderOf(rest.name), roles: [...roles] };
}

/** A member from how it is stored. */
export function fromRow(row: MemberRow): MemberRecord {
  const { tenantId, memberId, issuer, subject, name, address, roles, createdAt, invitedBy } = row;
  return { tenantId, memberId, identity: { issuer, subject }, name, address, roles, createdAt, invitedBy };
}
