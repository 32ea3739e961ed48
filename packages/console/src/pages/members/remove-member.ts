import type { Member } from "@vidimus/contracts/vidimus/access/v1/member_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import { confirmPage } from "../parts/confirm.ts";
import { errorSummary, type Fault, refusable } from "../parts/faults.ts";
import { type Html, html } from "../../markup/html.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { answerPage, tenantPage } from "../parts/tenant-page.ts";
import { roleList } from "../roles.ts";
import { readMember, withName } from "./read-member.ts";

export interface RemoveMemberDeps {
  readonly members: Pick<MemberCalls, "getMember" | "removeMember">;
}

const path = "/members/:member/remove";

export function askToRemoveMember({ members }: RemoveMemberDeps): TenantRoute {
  return tenantPage({
    path,
    right: "change members",
    recentSignIn: true,
    load: (call) => readMember(members, call),
    view: (member, call) => ({ title: "Remove a member", main: removeForm(member, call) }),
  });
}

/** `POST /t/{tenant}/members/{member}/remove`. Repeating it changes nothing. */
export function removeMember({ members }: RemoveMemberDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "change members",
    recentSignIn: true,
    handle: async (call) => {
      const { params, tenant, rpc, person, at } = call;
      const memberId = params["member"] ?? "";
      const before = meanwhile(readMember(members, call));
      const removed = await refusable(members.removeMember({ tenantId: tenant.tenantId, memberId }, rpc));
      if ("value" in removed) return { to: memberId === person.memberId ? "/" : at("/members?done=removed") };
      const member = await before;
      const main = removeForm(member, call, withName(removed.faults, member));
      return answerPage(call, { title: "Remove a member", main, status: 400 });
    },
  };
}

function removeForm(member: Member, { at, person }: TenantCall, faults: readonly Fault[] = []): Html {
  const { memberId, name, roles } = member;
  const self = memberId === person.memberId && "This is you: you are out of this newsroom then. ";
  return confirmPage({
    errors: errorSummary(faults),
    title: html`Remove <bdi>${name}</bdi>?`,
    consequence: html`${self}With the next click the rights of ${roleList(roles)} are gone. Keys that
      <bdi>${name}</bdi> made stay valid, and history keeps the name. Another invitation brings the member back.`,
    action: at(`/members/${memberId}/remove`),
    button: "Remove the member",
    isDanger: true,
    back: at("/members"),
  });
}
