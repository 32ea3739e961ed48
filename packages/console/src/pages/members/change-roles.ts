import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import { errorSummary, type Fault, refusable } from "../parts/faults.ts";
import { hidden } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { notice } from "../parts/notice.ts";
import { pageHead } from "../parts/page-head.ts";
import { answerPage, tenantPage } from "../parts/tenant-page.ts";
import { type ReadMember, readMember, withName } from "./read-member.ts";
import { chooseRole, roleFields, roleLabels, rolePointers, rolesOf } from "./role-field.ts";

interface ChangeRolesDeps {
  readonly members: Pick<MemberCalls, "getMember" | "listMembers" | "updateMemberRoles">;
}

const path = "/members/:member/roles";
const lastOwner = html`<b>You are the last owner, so you stay one.</b> The roles below come on top. To give up the role
  owner, make another member an owner first.`;

export function editRoles({ members }: ChangeRolesDeps): TenantRoute {
  return tenantPage({
    path,
    right: "change members",
    recentSignIn: true,
    load: (call) => readMember(members, call),
    view: (read, call) => ({ title: "Change roles", main: rolesForm(read, call, read.member.roles) }),
  });
}

/** `POST /t/{tenant}/members/{member}/roles`: replaces the roles of a member. */
export function changeRoles({ members }: ChangeRolesDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "change members",
    recentSignIn: true,
    fields: roleLabels,
    handle: async (call) => {
      const { params, tenant, form, rpc, person, at } = call;
      const memberId = params["member"] ?? "";
      const roles = rolesOf(form);
      const again = (read: ReadMember, faults: readonly Fault[]) =>
        answerPage(call, { title: "Change roles", main: rolesForm(read, call, roles, faults), status: 400 });
      const before = meanwhile(readMember(members, call));
      if (roles.length === 0) return again(await before, [chooseRole]);
      const request = { tenantId: tenant.tenantId, memberId, roles };
      const changed = await refusable(members.updateMemberRoles(request, rpc), rolePointers(form));
      // A person who took a role from itself may no longer see the list.
      if ("value" in changed) return { to: memberId === person.memberId ? at("") : at("/members?done=roles") };
      const read = await before;
      return again(read, withName(changed.faults, read.member));
    },
  };
}

function rolesForm(
  { member: { memberId, name }, isLastOwner }: ReadMember,
  { at }: TenantCall,
  chosen: readonly string[],
  faults: readonly Fault[] = [],
): Html {
  const above = { label: "Members", href: at("/members") };
  const lead = "What you take away is refused from the member's next click.";
  return html`${errorSummary(faults, roleLabels)} ${pageHead({ title: html`Roles of <bdi>${name}</bdi>`, lead, above })}
    <form method="post" action="${at(`/members/${memberId}/roles`)}">
      ${isLastOwner && html`${notice("wait", lastOwner)} ${hidden("roles", "owner")}`}
      ${roleFields(chosen, !isLastOwner, faults)}
      <div class="actions">
        <button class="primary">Change the roles</button>
        <a class="button" href="${at("/members")}">Cancel</a>
      </div>
    </form>`;
}
