import type { Route } from "../http/route.ts";
import type { MemberCalls } from "../rpc/memberships.ts";
import type { OidcProvider } from "../sign-in/oidc-provider.ts";
import type { SessionStore } from "../store/session-store.ts";
import { acceptInvitation } from "./accept-invitation.ts";
import { assetRoutes } from "./assets.ts";
import { chooseTenant } from "./choose-tenant.ts";
import { confirmSignIn } from "./confirm-sign-in.ts";
import { endSession } from "./end-session.ts";
import { getHome } from "./home.ts";
import { getInvitation, openInvitation } from "./invitation.ts";
import { getSessions } from "./sessions.ts";
import { getSignIn, postSignIn } from "./sign-in.ts";
import { finishOidc, type FinishOidcDeps } from "./sign-in-callback.ts";
import { beginOidc } from "./sign-in-oidc.ts";
import { signOut } from "./sign-out.ts";

interface RoutesDeps extends Pick<FinishOidcDeps, "groups" | "log"> {
  readonly sessions: SessionStore;
  readonly members: MemberCalls;
  readonly origin: URL;
  readonly links: boolean;
  readonly provider: OidcProvider | undefined;
}

/** Every page of the console. */
export function routes({ provider, ...deps }: RoutesDeps): Route[] {
  return [
    getHome(),
    chooseTenant(deps),
    getSessions(deps),
    endSession(deps),
    getInvitation(deps),
    openInvitation(),
    acceptInvitation(deps),
    getSignIn({ ...deps, provider }),
    ...(deps.links ? [postSignIn({ ...deps, provider }), confirmSignIn({ ...deps, provider })] : []),
    ...(provider ? [beginOidc({ ...deps, provider }), finishOidc({ ...deps, provider })] : []),
    signOut({ ...deps, provider }),
    ...assetRoutes(),
  ];
}
