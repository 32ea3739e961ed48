import type { MethodImpl } from "@connectrpc/connect";
import type { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireName } from "../../access/access-rules.ts";
import { newcomer, requireIdentity, requireText } from "../../access/member-rules.ts";
import { hashCode } from "../../access/one-time-code.ts";
import type { InvitationStore } from "../../store/invitation-store.ts";
import { memberToProto } from "./messages.ts";

export interface AcceptInvitationDeps {
  invitations: Pick<InvitationStore, "accept">;
  now: () => Date;
}

export function acceptInvitation(deps: AcceptInvitationDeps): MethodImpl<typeof MemberService.method.acceptInvitation> {
  return async (request, context) => {
    const identity = requireIdentity(request.identity);
    const person = newcomer(identity, requireName(request.name), requireText("/address", request.address, 320));
    const by = authorOf(callContext(context));
    const member = await deps.invitations.accept(hashCode(request.code), person, by, deps.now());
    return { member: memberToProto(member) };
  };
}
