import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { InviteMemberResponse } from "@vidimus/contracts/vidimus/access/v1/member_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import type { MadeByForm } from "../../store/sent-form-store.ts";
import { type Fault, refusable } from "../parts/faults.ts";
import { html } from "../../markup/html.ts";
import { lookFor, sentBefore } from "../parts/sent-before.ts";
import { type SentForms, takeForm } from "../parts/take-form.ts";
import { secretPage } from "../parts/secret-page.ts";
import { answerPage, type View } from "../parts/tenant-page.ts";
import { instant } from "../parts/times.ts";
import { roleList } from "../roles.ts";
import type { SignInWays } from "../sign-in-page.ts";
import { inviteForm, inviteLabels } from "./invite-form.ts";
import { chooseRole, rolePointers, rolesOf } from "./role-field.ts";

export interface InviteMemberDeps {
  readonly members: Pick<MemberCalls, "inviteMember">;
  readonly sentForms: SentForms;
  readonly origin: URL;
  readonly provider: SignInWays["provider"];
}

/** `POST /t/{tenant}/members/invite`: makes an invitation, and shows its link once. */
export function inviteMember({ members, sentForms, origin, provider }: InviteMemberDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path: "/members/invite",
    right: "members",
    recentSignIn: true,
    fields: inviteLabels,
    handle: async (call) => {
      const { form, tenant } = call;
      const again = (faults: readonly Fault[]) => {
        const main = inviteForm(call, { hasIssuer: provider !== undefined, faults });
        return answerPage(call, { title: "Invite", main, status: 400 });
      };
      const roles = rolesOf(form);
      if (roles.length === 0) return again([chooseRole]);
      const request = { tenantId: tenant.tenantId, roles, note: form.get("note") ?? "" };
      const taken = await takeForm(sentForms, call);
      if ("before" in taken) return madeBefore(call, taken.before);
      const inviting = members.inviteMember(request, taken.rpc);
      const pointers = { ...rolePointers(form), "/note": "note" };
      const made = await refusable(taken.settle(inviting, madeInvitation(call)), pointers);
      if ("faults" in made) return again(made.faults);
      const { code, invitation } = made.value;
      return answerPage(call, madePage(call, { link: `${origin.origin}/invitation#code=${code}`, invitation }));
    },
  };
}

interface Made {
  readonly link: string;
  readonly invitation: InviteMemberResponse["invitation"];
}

function madePage({ at }: TenantCall, { link, invitation }: Made): View {
  const { roles = [], note = "", expiresAt } = invitation ?? {};
  const main = secretPage({
    title: html`The invitation for “<bdi>${note}</bdi>” is made`,
    secret: link,
    label: "Link of the invitation",
    subject: "Its link",
    use: html`<p class="q">
      Send it to your colleague by a way that nobody else reads: whoever opens it may accept it.
    </p>`,
    about: html`<p>As ${roleList(roles)}${expiresAt && html`; ends ${instant(timestampDate(expiresAt))}`}</p>`,
    next: at("/members?done=invited"),
    done: "I have sent it",
  });
  return { title: "Invitation made", main };
}

function madeInvitation({ at }: TenantCall) {
  return ({ invitation }: InviteMemberResponse) => ({
    name: invitation?.note ?? "",
    path: at(`/members/invitations/${invitation?.invitationId ?? ""}/revoke`),
  });
}

function madeBefore(call: TenantCall, made: MadeByForm | undefined) {
  const list = { label: "To the members", href: call.at("/members") };
  return sentBefore(call, made, { advice: lookFor("invitation"), replace: "Revoke it, and invite again", list });
}
