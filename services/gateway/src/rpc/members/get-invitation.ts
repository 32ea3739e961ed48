import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { hashCode } from "../../access/one-time-code.ts";
import type { InvitationStore } from "../../store/invitation-store.ts";
import { invitationToProto } from "./messages.ts";

export interface GetInvitationDeps {
  invitations: Pick<InvitationStore, "find">;
  now: () => Date;
}

export function getInvitation(deps: GetInvitationDeps): MethodImpl<typeof MemberService.method.getInvitation> {
  return async ({ code }) => {
    const { invitation, tenantName } = await deps.invitations.find(hashCode(code), deps.now());
    return { invitation: invitationToProto(invitation), tenantName };
  };
}
