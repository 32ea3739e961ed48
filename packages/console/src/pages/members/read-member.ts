import type { Member } from "@vidimus/contracts/vidimus/access/v1/member_service";
import type { TenantCall } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import type { Fault } from "../parts/faults.ts";
import { lastOwnerOf } from "./last-owner.ts";

/** A member, and whether it is known to be the last owner. */
export interface ReadMember {
  readonly member: Member;
  readonly isLastOwner: boolean;
}

/** Most members with their roles that access returns in one answer. */
const membersMax = 200;

/** The member that the URL names. NOT_FOUND when the tenant has no such member. */
export async function readMember(
  members: Pick<MemberCalls, "getMember" | "listMembers">,
  { tenant: { tenantId }, params, rpc, person }: TenantCall,
): Promise<ReadMember> {
  const memberId = params["member"] ?? "";
  // Only owners change members. So the reader is one, and no other member can be the last owner.
  const isReader = memberId === person.memberId;
  const [{ member }, listed] = await Promise.all([
    members.getMember({ tenantId, memberId }, rpc),
    isReader ? members.listMembers({ tenantId, limit: membersMax }, rpc) : undefined,
  ]);
  if (!member) throw new Error("GetMember answered no member");
  return { member, isLastOwner: listed !== undefined && lastOwnerOf(listed) === memberId };
}

/** Replaces a member's id by the member's name in faults of the service. */
export function withName(faults: readonly Fault[], { memberId, name }: Member): Fault[] {
  const written = new RegExp(memberId, "i");
  return faults.map(({ field, error }) => ({ field, error: error.replace(written, () => name) }));
}
