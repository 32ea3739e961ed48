import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireAdministrator } from "../../access/access-rules.ts";
import type { MemberStore } from "../../store/member-store.ts";
import { memberToProto } from "./messages.ts";

export interface GetMemberDeps {
  members: Pick<MemberStore, "get" | "requireOwnRole">;
}

export function getMember({ members }: GetMemberDeps): MethodImpl<typeof MemberService.method.getMember> {
  return async (request, context) => {
    const by = callContext(context);
    requireAdministrator(by.role);
    const tenantId = requireTenantId(request.tenantId);
    await members.requireOwnRole(tenantId, by);
    return { member: memberToProto(await members.get(tenantId, request.memberId, context.signal)) };
  };
}
