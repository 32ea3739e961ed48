import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { requireTenantId } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireOwner } from "../../access/member-rules.ts";
import type { MemberStore } from "../../store/member-store.ts";

export interface RemoveMemberDeps {
  members: Pick<MemberStore, "remove">;
}

export function removeMember({ members }: RemoveMemberDeps): MethodImpl<typeof MemberService.method.removeMember> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
    requireOwner(by.role);
    await members.remove(requireTenantId(request.tenantId), request.memberId, by);
    return {};
  };
}
