import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { requireTenantId } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireAdministrator } from "../../access/access-rules.ts";
import { requireMayGive } from "../../access/member-rules.ts";
import type { InvitationStore } from "../../store/invitation-store.ts";

export interface RevokeInvitationDeps {
  invitations: Pick<InvitationStore, "revoke">;
}

export function revokeInvitation({
  invitations,
}: RevokeInvitationDeps): MethodImpl<typeof MemberService.method.revokeInvitation> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
    requireAdministrator(by.role);
    const tenantId = requireTenantId(request.tenantId);
    await invitations.revoke(tenantId, request.invitationId, by, ({ roles }) => requireMayGive(by.role, roles));
    return {};
  };
}
