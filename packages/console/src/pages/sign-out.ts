import type { OpenRoute } from "../http/route.ts";
import type { OidcProvider } from "../sign-in/oidc-provider.ts";
import type { SessionStore } from "../store/session-store.ts";
import { type Html, html } from "../markup/html.ts";
import { layout } from "./layout.ts";

interface SignOutDeps {
  readonly sessions: Pick<SessionStore, "find" | "end">;
  readonly provider: Pick<OidcProvider, "signOutUrl"> | undefined;
}

/** `POST /sign-out`: ends the session without a call of a service, which may be down. */
export function signOut({ sessions, provider }: SignOutDeps): OpenRoute {
  return {
    access: "open",
    method: "POST",
    url: "/sign-out",
    handle: async (call) => {
      const cookieId = call.cookie("session");
      const session = await sessions.find(cookieId, call.now);
      await sessions.end(cookieId);
      const elsewhere =
        session?.idToken === undefined ? undefined : await provider?.signOutUrl(session.idToken).catch(() => undefined);
      return { status: 200, page: signedOutPage(elsewhere), cookies: [{ kind: "session" }] };
    },
  };
}

/**
 * A page instead of a redirect: browsers would refuse one to the issuer, because it follows a form
 * and `form-action` does not name the issuer.
 */
function signedOutPage(elsewhere: string | undefined): Html {
  return layout(
    { title: "Signed out", goOn: elsewhere },
    html`<h1>You are signed out</h1>
      ${
        elsewhere === undefined
          ? html`<p><a class="button" href="/sign-in">Sign in</a></p>`
          : html`<p class="lead">You go on to the sign-in service, to sign out there, too.</p>
              <p><a class="button" href="${elsewhere}">Sign out there</a></p>`
      }`,
  );
}
