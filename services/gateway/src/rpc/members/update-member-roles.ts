import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { requireTenantId } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireOwner, requireRoles } from "../../access/member-rules.ts";
import type { MemberStore } from "../../store/member-store.ts";
import { memberToProto } from "./messages.ts";

export interface UpdateMemberRolesDeps {
  members: Pick<MemberStore, "updateRoles">;
}

export function updateMemberRoles({
  members,
}: UpdateMemberRolesDeps): MethodImpl<typeof MemberService.method.updateMemberRoles> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
    requireOwner(by.role);
    const tenantId = requireTenantId(request.tenantId);
    const member = await members.updateRoles(tenantId, request.memberId, requireRoles(request.roles), by);
    return { member: memberToProto(member) };
  };
}
