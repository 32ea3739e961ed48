import type { PersonRoute } from "../http/route.ts";
import { actingAs } from "../rpc/acting-as.ts";
import type { MemberCalls } from "../rpc/called-methods.ts";
import { unlessNotFound } from "../rpc/unless-not-found.ts";
import type { SessionStore } from "../store/session-store.ts";
import { invitationGone } from "./invitation.ts";
import { readCode } from "../sign-in/code.ts";

export interface AcceptInvitationDeps {
  readonly members: Pick<MemberCalls, "acceptInvitation">;
  readonly sessions: Pick<SessionStore, "chooseTenant">;
}

/** `POST /invitation/accept`: makes the signed-in person a member, and opens the tenant. */
export function acceptInvitation({ members, sessions }: AcceptInvitationDeps): PersonRoute {
  return {
    access: "signed in",
    method: "POST",
    url: "/invitation/accept",
    handle: async (call) => {
      const { person } = call;
      const { identity, name, address } = person.session;
      const code = readCode(call.cookie("invitation"));
      const request =
        code && members.acceptInvitation({ code, identity, name, address }, actingAs(call, person.memberId));
      const { member } = (request && (await unlessNotFound(request))) || {};
      if (!member) return invitationGone(person);
      await sessions.chooseTenant(person.cookieId, member.tenantId);
      const before = person.memberships.find(({ tenantId }) => tenantId === member.tenantId);
      const done = before && member.roles.every((role) => before.roles.includes(role)) ? "had" : "accepted";
      return { to: `/t/${member.tenantId}?done=${done}`, cookies: [{ kind: "invitation" }] };
    },
  };
}
