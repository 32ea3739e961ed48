import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import { confirmPage } from "../parts/confirm.ts";
import { errorSummary, type Fault, refusable } from "../parts/faults.ts";
import { type Html, html } from "../../markup/html.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { pageHead } from "../parts/page-head.ts";
import { answerPage, tenantPage } from "../parts/tenant-page.ts";
import { roleList } from "../roles.ts";
import { type ReadMember, readMember, withName } from "./read-member.ts";

export interface RemoveMemberDeps {
  readonly members: Pick<MemberCalls, "getMember" | "listMembers" | "removeMember">;
}

const path = "/members/:member/remove";
const lastOwner =
  "You are the last owner, and a newsroom always has one. Make another member an owner first; then you can go.";

export function askToRemoveMember({ members }: RemoveMemberDeps): TenantRoute {
  return tenantPage({
    path,
    right: "change members",
    recentSignIn: true,
    load: (call) => readMember(members, call),
    view: (read, call) => ({ title: "Remove a member", main: removePage(read, call) }),
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
      const read = await before;
      const main = removePage(read, call, withName(removed.faults, read.member));
      return answerPage(call, { title: "Remove a member", main, status: 400 });
    },
  };
}

function removePage(read: ReadMember, { at, person }: TenantCall, faults: readonly Fault[] = []): Html {
  const { memberId, name, roles } = read.member;
  if (read.isLastOwner) {
    return html`${errorSummary(faults)}
    ${pageHead({ title: "You cannot be removed", lead: lastOwner, above: { label: "Members", href: at("/members") } })}`;
  }
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
