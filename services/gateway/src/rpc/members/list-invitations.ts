import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireAdministrator } from "../../access/access-rules.ts";
import type { InvitationStore } from "../../store/invitation-store.ts";
import type { MemberStore } from "../../store/member-store.ts";
import { invitationToProto } from "./messages.ts";

export interface ListInvitationsDeps {
  members: Pick<MemberStore, "requireOwnRole">;
  invitations: Pick<InvitationStore, "list">;
  now: () => Date;
}

export function listInvitations(deps: ListInvitationsDeps): MethodImpl<typeof MemberService.method.listInvitations> {
  return async (request, context) => {
    const by = callContext(context);
    requireAdministrator(by.role);
    const tenantId = requireTenantId(request.tenantId);
    await deps.members.requireOwnRole(tenantId, by);
    const open = await deps.invitations.list(tenantId, deps.now(), context.signal);
    return { invitations: open.map(invitationToProto) };
  };
}
