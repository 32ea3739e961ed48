import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { GetInvitationResponse, Invitation } from "@vidimus/contracts/vidimus/access/v1/member_service";
import type { OpenRoute, Person } from "../http/route.ts";
import { actingAs } from "../rpc/acting-as.ts";
import type { MemberCalls } from "../rpc/called-methods.ts";
import { unlessNotFound } from "../rpc/unless-not-found.ts";
import { errorSummary } from "./parts/faults.ts";
import { textField } from "./parts/form.ts";
import { type Html, html } from "../markup/html.ts";
import { layout } from "./layout.ts";
import { notice } from "./parts/notice.ts";
import { roleList } from "./roles.ts";
import { consoleActor, readCode } from "../sign-in/code.ts";
import { instant } from "./parts/times.ts";
import { codesOnly, type SignInWays } from "./sign-in-page.ts";

interface InvitationDeps {
  readonly members: Pick<MemberCalls, "getInvitation">;
  /** Undefined when one-time codes are the only way to sign in. */
  readonly provider: SignInWays["provider"];
}

/** Time to sign in between opening an invitation and accepting it. */
const openMaxSeconds = 1_800;
/** The same text for unknown, accepted, revoked and expired invitations. */
const invitationEnded = "This invitation was accepted or revoked, or its seven days are over. Ask for another one.";

/**
 * `GET /invitation`: shows the invitation that was opened in this browser, or asks for a code. The
 * code of the invitation is in a cookie for half an hour at most, so that a sign-in at the issuer
 * does not lose the code. The console does not store it.
 */
export function getInvitation({ members, provider }: InvitationDeps): OpenRoute {
  return {
    access: "open",
    method: "GET",
    url: "/invitation",
    handle: async (call, whoIs) => {
      const person = await whoIs();
      const code = readCode(call.cookie("invitation"));
      if (!code) return { status: 200, page: askForCode(person) };
      const actor = person?.memberId ?? consoleActor;
      const found = await unlessNotFound(members.getInvitation({ code }, actingAs(call, actor)));
      if (!found) return invitationGone(person);
      return { status: 200, page: invitationPage(found, person, provider !== undefined) };
    },
  };
}

/** `POST /invitation`: keeps the code in a cookie and shows the invitation, without using it up. */
export function openInvitation(): OpenRoute {
  return {
    access: "open",
    method: "POST",
    url: "/invitation",
    handle: async (call, whoIs) => {
      const code = readCode(call.form.get("code"));
      if (!code) return invitationGone(await whoIs());
      return { to: "/invitation", cookies: [{ kind: "invitation", value: code, maxAgeSeconds: openMaxSeconds }] };
    },
  };
}

/** The answer to a code that belongs to no open invitation. It removes the cookie with the code. */
export function invitationGone(person: Person | undefined) {
  return { status: 400, page: askForCode(person, invitationEnded), cookies: [{ kind: "invitation" }] } as const;
}

function askForCode(person: Person | undefined, error?: string): Html {
  return layout(
    { title: "Invitation", person },
    html`${error !== undefined && errorSummary([{ field: "code", error }])}
      <h1>Invitation</h1>
      <p class="lead">With an invitation you become a member of a newsroom. Opening it uses nothing up.</p>
      ${codeForm("primary", error)}`,
  );
}

function codeForm(kind: "primary" | "", error?: string): Html {
  const hint = "From the link that you were sent.";
  return html`<form method="post" action="/invitation">
    ${textField({ name: "code", label: "Code of the invitation", hint, error, isCode: true })}
    <button class="${kind}">Open the invitation</button>
  </form>`;
}

function invitationPage(
  { invitation, tenantName }: GetInvitationResponse,
  person: Person | undefined,
  hasIssuer: boolean,
): Html {
  const { roles = [], note = "", expiresAt } = invitation ?? {};
  return layout(
    { title: "Invitation", person },
    html`<h1>You are invited to <bdi>${tenantName}</bdi></h1>
      ${!person && !hasIssuer && askForSignInCode(note)}
      <dl>
        <div>
          <dt>Newsroom</dt>
          <dd dir="auto">${tenantName}</dd>
        </div>
        <div>
          <dt>${roles.length === 1 ? "Role" : "Roles"}</dt>
          <dd>${roleList(roles)}</dd>
        </div>
        ${
          note !== "" &&
          html`<div>
            <dt>Meant for</dt>
            <dd dir="auto">${note}</dd>
          </div>`
        }
        ${
          expiresAt &&
          html`<div>
            <dt>Holds until</dt>
            <dd>${instant(timestampDate(expiresAt))}</dd>
          </div>`
        }
      </dl>
      ${person ? acceptForm(person, invitation) : signInFirst(hasIssuer)}
      <details data-codes>
        <summary>Open another invitation</summary>
        ${codeForm("")}
      </details>`,
  );
}

function acceptForm(person: Person, invitation: Invitation | undefined): Html {
  const { name, address, identity } = person.session;
  return html`<p>
      You are signed in as <b dir="auto">${name}</b>${address !== "" && ` (${address})`}. Whoever this is becomes the
      member: <code>${identity.subject}</code> of <code>${identity.issuer}</code>.
    </p>
    ${whatChanges(person, invitation)}
    <div class="actions">
      <form method="post" action="/invitation/accept"><button class="primary">Accept the invitation</button></form>
      <form method="post" action="/sign-out"><button>Sign out, it is not me</button></form>
    </div>`;
}

function whatChanges({ memberships }: Person, invitation: Invitation | undefined): Html | undefined {
  const before = memberships.find(({ tenantId }) => tenantId === invitation?.tenantId);
  if (!before) return undefined;
  const added = invitation?.roles.filter((role) => !before.roles.includes(role)) ?? [];
  return notice(
    "wait",
    html`<b>You are ${roleList(before.roles)} here already.</b> ${
        added.length === 0 ? "Accepting changes nothing." : `Accepting makes you ${roleList(added)}, too.`
      }`,
  );
}

function askForSignInCode(note: string): Html {
  const whom = note === "" ? "your name" : html`<b dir="auto">${note}</b>`;
  return html`<p class="lead">
    Ask whoever operates the platform for a one-time code for ${whom}, and sign in with it.
  </p>`;
}

function signInFirst(hasIssuer: boolean): Html {
  return html`<p>Sign in first. You come back here, and see once more what you accept.</p>
    ${!hasIssuer && html`<p>${codesOnly}</p>`}
    <p><a class="button primary" href="/sign-in?return=%2Finvitation">Sign in</a></p>`;
}
