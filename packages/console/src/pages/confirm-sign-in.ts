import type { GetSignInLinkResponse } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { returnPath } from "../http/return-path.ts";
import type { OpenRoute } from "../http/route.ts";
import { actingAs } from "../rpc/acting-as.ts";
import type { MemberCalls } from "../rpc/called-methods.ts";
import { unlessNotFound } from "../rpc/unless-not-found.ts";
import { openSession } from "../sessions/open-session.ts";
import { consoleActor, readCode } from "../sign-in/code.ts";
import type { SessionStore } from "../store/session-store.ts";
import { hidden } from "./parts/form.ts";
import { type Html, html } from "../markup/html.ts";
import { layout } from "./layout.ts";
import { roleList } from "./roles.ts";
import { codeEnded, signInPage, type SignInWays } from "./sign-in-page.ts";

interface ConfirmSignInDeps extends SignInWays {
  readonly members: Pick<MemberCalls, "redeemSignInLink">;
  readonly sessions: Pick<SessionStore, "insert" | "end">;
}

/** `POST /sign-in/confirm`: uses up a one-time code, and opens a session. */
export function confirmSignIn(deps: ConfirmSignInDeps): OpenRoute {
  return {
    access: "open",
    method: "POST",
    url: "/sign-in/confirm",
    handle: async (call) => {
      const returnTo = returnPath(call.form.get("return"), deps.origin);
      const code = readCode(call.form.get("code"));
      const request = code && deps.members.redeemSignInLink({ code }, actingAs(call, consoleActor));
      const { member } = (request && (await unlessNotFound(request))) || {};
      if (!member?.identity) return { status: 400, page: signInPage(deps, { returnTo, error: codeEnded }) };
      const { identity, name, address, tenantId } = member;
      const signedIn = { identity, name, address, tenantId, way: "link", authTime: call.now } as const;
      return { to: returnTo, cookies: [await openSession(deps.sessions, call, signedIn)] };
    },
  };
}

type Confirmed = Pick<GetSignInLinkResponse, "identity" | "tenantName" | "roles"> & {
  readonly code: string;
  readonly returnTo: string;
};

export function confirmPage({ identity, tenantName, roles, code, returnTo }: Confirmed): Html {
  return layout(
    { title: "Sign in" },
    html`<h1>Sign in to <bdi>${tenantName}</bdi>?</h1>
      <dl>
        <div>
          <dt>As</dt>
          <dd dir="auto">${identity?.subject ?? ""}</dd>
        </div>
        <div>
          <dt>Newsroom</dt>
          <dd dir="auto">${tenantName}</dd>
        </div>
        <div>
          <dt>${roles.length === 1 ? "Role" : "Roles"}</dt>
          <dd>${roleList(roles)}</dd>
        </div>
      </dl>
      <form method="post" action="/sign-in/confirm">
        ${hidden("code", code)}${hidden("return", returnTo)}
        <button class="primary">Sign in</button>
      </form>
      <p class="q">The code is used up when you sign in, not before.</p>`,
  );
}
