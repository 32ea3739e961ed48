import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { authorOf } from "@vidimus/kit/audit/audit-entry";
import { requireTenantId } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/call-context";
import { requireAdministrator } from "../../access/access-rules.ts";
import { requireMayGive } from "../../access/member-rules.ts";
import type { InvitationStore } from "../../store/invitation-store.ts";

export interface RevokeInvitationDeps {
  invitations: Pick<InvitationStore, "revoke">;
}

/** Implements `RevokeInvitation`. */
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
