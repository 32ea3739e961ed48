import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { route, type TeamsRoute, teamsRoute } from "@vidimus/kit/rpc/doors/shared/route";
import { acceptInvitation, type AcceptInvitationDeps } from "./accept-invitation.ts";
import { createSignInLink, type CreateSignInLinkDeps } from "./create-sign-in-link.ts";
import { getInvitation, type GetInvitationDeps } from "./get-invitation.ts";
import { getMember, type GetMemberDeps } from "./get-member.ts";
import { getSignInLink, type GetSignInLinkDeps } from "./get-sign-in-link.ts";
import { inviteMember, type InviteMemberDeps } from "./invite-member.ts";
import { listInvitations, type ListInvitationsDeps } from "./list-invitations.ts";
import { listMembers, type ListMembersDeps } from "./list-members.ts";
import { listMemberships, type ListMembershipsDeps } from "./list-memberships.ts";
import { redeemSignInLink, type RedeemSignInLinkDeps } from "./redeem-sign-in-link.ts";
import { removeMember, type RemoveMemberDeps } from "./remove-member.ts";
import { revokeInvitation, type RevokeInvitationDeps } from "./revoke-invitation.ts";
import { updateMemberRoles, type UpdateMemberRolesDeps } from "./update-member-roles.ts";

type MemberRoutesDeps = ListMembersDeps &
  GetMemberDeps &
  ListMembershipsDeps &
  InviteMemberDeps &
  ListInvitationsDeps &
  RevokeInvitationDeps &
  GetInvitationDeps &
  AcceptInvitationDeps &
  UpdateMemberRolesDeps &
  RemoveMemberDeps &
  CreateSignInLinkDeps &
  GetSignInLinkDeps &
  RedeemSignInLinkDeps;

export function memberRoutes(deps: MemberRoutesDeps): TeamsRoute {
  const methods = route(MemberService, {
    listMembers: listMembers(deps),
    getMember: getMember(deps),
    listMemberships: listMemberships(deps),
    inviteMember: inviteMember(deps),
    listInvitations: listInvitations(deps),
    revokeInvitation: revokeInvitation(deps),
    getInvitation: getInvitation(deps),
    acceptInvitation: acceptInvitation(deps),
    updateMemberRoles: updateMemberRoles(deps),
    removeMember: removeMember(deps),
    createSignInLink: createSignInLink(deps),
    getSignInLink: getSignInLink(deps),
    redeemSignInLink: redeemSignInLink(deps),
  });
  return teamsRoute(methods, {
    listMembers: "read",
    getMember: "read",
    listMemberships: "platform",
    inviteMember: "write",
    listInvitations: "read",
    revokeInvitation: "write",
    getInvitation: "platform",
    acceptInvitation: "platform",
    updateMemberRoles: "write",
    removeMember: "write",
    createSignInLink: "platform",
    getSignInLink: "platform",
    redeemSignInLink: "platform",
  });
}
