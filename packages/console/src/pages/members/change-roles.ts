import type { Member } from "@vidimus/contracts/vidimus/access/v1/member_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import { errorSummary, type Fault, refusable } from "../parts/faults.ts";
import { type Html, html } from "../../markup/html.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { pageHead } from "../parts/page-head.ts";
import { answerPage, tenantPage } from "../parts/tenant-page.ts";
import { readMember, withName } from "./read-member.ts";
import { roleFields, rolesOf } from "./role-field.ts";

interface ChangeRolesDeps {
  readonly members: Pick<MemberCalls, "getMember" | "updateMemberRoles">;
}

const path = "/members/:member/roles";

export function editRoles({ members }: ChangeRolesDeps): TenantRoute {
  return tenantPage({
    path,
    right: "change members",
    recentSignIn: true,
    load: (call) => readMember(members, call),
    view: (member, call) => ({ title: "Change roles", main: rolesForm(member, call, member.roles) }),
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
    fields: { roles: "Role", own: "Other roles" },
    handle: async (call) => {
      const { params, tenant, form, rpc, person, at } = call;
      const memberId = params["member"] ?? "";
      const roles = rolesOf(form);
      const before = meanwhile(readMember(members, call));
      const changed = await refusable(members.updateMemberRoles({ tenantId: tenant.tenantId, memberId, roles }, rpc), {
        "/roles": "roles",
      });
      // A person who took a role from itself may no longer see the list.
      if ("value" in changed) return { to: memberId === person.memberId ? at("") : at("/members?done=roles") };
      const member = await before;
      const main = rolesForm(member, call, roles, withName(changed.faults, member));
      return answerPage(call, { title: "Change roles", main, status: 400 });
    },
  };
}

function rolesForm(member: Member, { at }: TenantCall, chosen: readonly string[], faults: readonly Fault[] = []): Html {
  const { memberId, name } = member;
  const above = { label: "Members", href: at("/members") };
  const lead = "What you take away is refused from the member's next click.";
  return html`${errorSummary(faults)} ${pageHead({ title: html`Roles of <bdi>${name}</bdi>`, lead, above })}
    <form method="post" action="${at(`/members/${memberId}/roles`)}">
      ${roleFields(chosen, true, faults)}
      <div class="actions">
        <button class="primary">Change the roles</button>
        <a class="button" href="${at("/members")}">Cancel</a>
      </div>
    </form>`;
}
