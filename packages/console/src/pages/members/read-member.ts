import type { Member } from "@vidimus/contracts/vidimus/access/v1/member_service";
import type { TenantCall } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import type { Fault } from "../parts/faults.ts";

/** The member that the URL names. NOT_FOUND when the tenant has no such member. */
export async function readMember(
  members: Pick<MemberCalls, "getMember">,
  { tenant: { tenantId }, params, rpc }: TenantCall,
): Promise<Member> {
  const { member } = await members.getMember({ tenantId, memberId: params["member"] ?? "" }, rpc);
  if (!member) throw new Error("GetMember answered no member");
  return member;
}

/** Replaces a member's id by the member's name in faults of the service. */
export function withName(faults: readonly Fault[], { memberId, name }: Member): Fault[] {
  const written = new RegExp(memberId, "i");
  return faults.map(({ field, error }) => ({ field, error: error.replace(written, () => name) }));
}
