import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { comparableName } from "@vidimus/kit/rpc/context/comparable-name";
import { isPersonActor } from "@vidimus/kit/rpc/context/person";
import type { ClientSession, Collection } from "mongodb";
import type { MemberRecord } from "../access/member-record.ts";
import type { FormerMemberRow, MemberRow } from "./rows.ts";

export function memberKey(tenantId: string, memberId: string): string {
  return `${tenantId}/${memberId}`;
}

/**
 * Throws `permission_denied` when the actor is a person who does not have the asserted role in the
 * tenant. Other actors are not checked here: where programs have certificates, the teams door
 * checks the role against the grant of the calling program (`docs/security.md`).
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

interface JoinedCollections {
  readonly members: Collection<MemberRow>;
  readonly formerMembers: Collection<FormerMemberRow>;
}

/** Adds a member, or roles to an existing one, whose name and address are updated. */
export async function joinMember(
  { members, formerMembers }: JoinedCollections,
  member: MemberRecord,
  session: ClientSession,
): Promise<MemberRecord> {
  const row = toRow(member);
  await formerMembers.deleteOne({ _id: row._id }, { session });
  const known = await members.findOne({ _id: row._id }, { session });
  const roles = [...new Set([...(known?.roles ?? []), ...row.roles])].toSorted();
  const { createdAt, invitedBy } = known ?? row;
  const joined = { ...row, roles, createdAt, invitedBy };
  await members.replaceOne({ _id: row._id }, joined, { session, upsert: true });
  return fromRow(joined);
}

/** Characters of a name by which members are ordered. Limited because page tokens contain them. */
const orderCharacters = 64;

function orderOf(name: string): string {
  return Array.from(comparableName(name)).slice(0, orderCharacters).join("");
}

export function toRow({ tenantId, memberId, identity, roles, ...rest }: MemberRecord): MemberRow {
  const _id = memberKey(tenantId, memberId);
  return { _id, tenantId, memberId, ...identity, ...rest, order: orderOf(rest.name), roles: [...roles] };
}

export function fromRow(row: MemberRow): MemberRecord {
  const { tenantId, memberId, issuer, subject, name, address, roles, createdAt, invitedBy } = row;
  return { tenantId, memberId, identity: { issuer, subject }, name, address, roles, createdAt, invitedBy };
}
