import type { TenantCall, TenantRoute } from "../../http/route.ts";
import { errorAt, errorSummary, type Fault } from "../parts/faults.ts";
import { textField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { notice } from "../parts/notice.ts";
import { codesOnly, type SignInWays } from "../sign-in-page.ts";
import { onceField } from "../parts/take-form.ts";
import { pageHead } from "../parts/page-head.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { roleFields, roleLabels, rolesOf } from "./role-field.ts";

export function askToInvite({ provider }: Pick<SignInWays, "provider">): TenantRoute {
  return tenantPage({
    path: "/members/invite",
    right: "members",
    recentSignIn: true,
    load: async () => undefined,
    view: (_, call) => ({ title: "Invite", main: inviteForm(call, { hasIssuer: provider !== undefined }) }),
  });
}

const lead =
  "An invitation is a link that you send yourself. It holds for seven days, and whoever accepts it first becomes the member.";

interface InviteForm {
  /** Whether people may sign in at an issuer. */
  readonly hasIssuer: boolean;
  readonly faults?: readonly Fault[];
}

/** From field name to label; see `fields` of a route. */
export const inviteLabels = { note: "For whom", ...roleLabels };

export function inviteForm({ form, at, role }: TenantCall, { hasIssuer, faults = [] }: InviteForm): Html {
  return html`${errorSummary(faults, inviteLabels)}
    ${pageHead({ title: "Invite a colleague", lead, above: { label: "Members", href: at("/members") } })}
    ${
      !hasIssuer &&
      notice(
        "wait",
        html`<b>An invitation is not enough here.</b> ${codesOnly} Such a code makes its person a member, too, with
          these roles. An invitation is not needed then.`,
      )
    }
    <form method="post" action="${at("/members/invite")}">
      ${textField({
        name: "note",
        label: "For whom",
        hint: "Shown in the list of invitations, and to whoever opens the link. It decides nothing.",
        value: form.get("note") ?? "",
        max: 200,
        error: errorAt(faults, "note"),
      })}
      ${roleFields(rolesOf(form), role === "owner", faults)} ${onceField()}
      <div class="actions">
        <button class="primary">Make the invitation</button>
        <a class="button" href="${at("/members")}">Cancel</a>
      </div>
    </form>`;
}
