import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { requireTenantId, uuidv7 } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireAdministrator } from "../../access/access-rules.ts";
import { invitationMs, requireMayGive, requireRoles, requireText } from "../../access/member-rules.ts";
import { mintCode } from "../../access/one-time-code.ts";
import type { InvitationStore } from "../../store/invitation-store.ts";
import { invitationToProto } from "./messages.ts";

export interface InviteMemberDeps {
  invitations: Pick<InvitationStore, "insert">;
  now: () => Date;
}

export function inviteMember(deps: InviteMemberDeps): MethodImpl<typeof MemberService.method.inviteMember> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
    requireAdministrator(by.role);
    const roles = requireRoles(request.roles);
    requireMayGive(by.role, roles);
    const createdAt = deps.now();
    const invitation = {
      invitationId: uuidv7(),
      tenantId: requireTenantId(request.tenantId),
      roles,
      note: requireText("/note", request.note, 200),
      invitedBy: by.actor,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + invitationMs),
    };
    const { code, hash } = mintCode();
    await deps.invitations.insert(invitation, hash, by);
    return { invitation: invitationToProto(invitation), code };
  };
}
