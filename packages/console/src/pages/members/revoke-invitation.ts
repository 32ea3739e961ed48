import { DomainError } from "@vidimus/kit/errors";
import type { Invitation } from "@vidimus/contracts/vidimus/access/v1/member_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import { confirmPage } from "../parts/confirm.ts";
import { type Html, html } from "../../markup/html.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { roleList } from "../roles.ts";

const path = "/members/invitations/:invitation/revoke";

export function askToRevokeInvitation({
  members,
}: {
  readonly members: Pick<MemberCalls, "listInvitations">;
}): TenantRoute {
  return tenantPage({
    path,
    right: "members",
    load: async ({ tenant: { tenantId }, params, rpc }) => {
      // A tenant has at most 100 open invitations, so they are all in the list.
      const { invitations } = await members.listInvitations({ tenantId }, rpc);
      const found = invitations.find(({ invitationId }) => invitationId === params["invitation"]);
      if (!found)
        throw new DomainError("not_found", "this invitation was accepted or revoked, or its seven days are over");
      return found;
    },
    view: (invitation, call) => ({ title: "Revoke an invitation", main: revokeForm(invitation, call) }),
  });
}

/** `POST /t/{tenant}/members/invitations/{invitation}/revoke`. Repeating it changes nothing. */
export function revokeInvitation({
  members,
}: {
  readonly members: Pick<MemberCalls, "revokeInvitation">;
}): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "members",
    handle: async ({ tenant: { tenantId }, params, rpc, at }) => {
      await members.revokeInvitation({ tenantId, invitationId: params["invitation"] ?? "" }, rpc);
      return { to: at("/members?done=revoked") };
    },
  };
}

function revokeForm({ invitationId, note, roles }: Invitation, { at }: TenantCall): Html {
  return confirmPage({
    title: html`Revoke the invitation for “<bdi>${note}</bdi>”?`,
    consequence: `Its link leads nowhere then: nobody becomes ${roleList(roles)} by it. You can make another one.`,
    action: at(`/members/invitations/${invitationId}/revoke`),
    button: "Revoke the invitation",
    isDanger: true,
    back: at("/members"),
  });
}
