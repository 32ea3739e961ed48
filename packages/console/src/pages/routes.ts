import type { Route, TenantRoute } from "../http/route.ts";
import type { Services } from "../rpc/called-methods.ts";
import type { OidcProvider } from "../sign-in/oidc-provider.ts";
import type { SentFormStore } from "../store/sent-form-store.ts";
import type { SessionStore } from "../store/session-store.ts";
import { acceptInvitation } from "./accept-invitation.ts";
import { getApiDocs } from "./api-docs.ts";
import { assetRoutes } from "./assets.ts";
import { chooseTenant } from "./choose-tenant.ts";
import { confirmSignIn } from "./confirm-sign-in.ts";
import { deliveryRoutes } from "./deliveries/delivery-routes.ts";
import { endSession } from "./end-session.ts";
import { getHome } from "./home.ts";
import { getInvitation, openInvitation } from "./invitation.ts";
import { listAudit } from "./audit/list-audit.ts";
import { endpointRoutes } from "./endpoints/endpoint-routes.ts";
import { changeScopes, editScopes } from "./keys/change-scopes.ts";
import { createKey } from "./keys/create-key.ts";
import { listKeys } from "./keys/list-keys.ts";
import { newKey } from "./keys/new-key.ts";
import { askToRevokeKey, revokeKey } from "./keys/revoke-key.ts";
import { askToRollKey, rollKey } from "./keys/roll-key.ts";
import { showKey } from "./keys/show-key.ts";
import { changeRoles, editRoles } from "./members/change-roles.ts";
import { askToInvite } from "./members/invite-form.ts";
import { inviteMember } from "./members/invite-member.ts";
import { listMembers } from "./members/list-members.ts";
import { askToRemoveMember, removeMember } from "./members/remove-member.ts";
import { askToRevokeInvitation, revokeInvitation } from "./members/revoke-invitation.ts";
import { getNewsrooms } from "./newsrooms.ts";
import { getOverview } from "./overview.ts";
import { replayRoutes } from "./replays/replay-routes.ts";
import { getSessions } from "./sessions.ts";
import { getSignIn, postSignIn } from "./sign-in.ts";
import { phraseRoutes } from "./phrases/phrase-routes.ts";
import { getTrustList } from "./trust/trust-list.ts";
import { getVerify, postVerify } from "./trust/verify.ts";
import { finishOidc, type FinishOidcDeps } from "./sign-in-callback.ts";
import { beginOidc } from "./sign-in-oidc.ts";
import { signOut } from "./sign-out.ts";

export interface RoutesDeps extends Services, Pick<FinishOidcDeps, "groups" | "log"> {
  readonly sessions: SessionStore;
  readonly sentForms: SentFormStore;
  readonly origin: URL;
  readonly apiOrigin: URL;
  readonly gatewayUrl: URL;
  readonly trustRoot: string | undefined;
  readonly links: boolean;
  readonly provider: OidcProvider | undefined;
}

export function routes(deps: RoutesDeps): Route[] {
  return [...ownRoutes(deps), ...tenantRoutes(deps), ...signInRoutes(deps), ...assetRoutes()];
}

/** Pages of a signed-in person that belong to no tenant, and the redirect to the API docs. */
function ownRoutes(deps: RoutesDeps): Route[] {
  return [getHome(), getNewsrooms(), chooseTenant(deps), getSessions(deps), endSession(deps), getApiDocs(deps)];
}

function tenantRoutes(deps: RoutesDeps): TenantRoute[] {
  return [
    getOverview(deps),
    ...keyRoutes(deps),
    ...endpointRoutes(deps),
    ...deliveryRoutes(deps),
    ...replayRoutes(deps),
    ...memberRoutes(deps),
    listAudit(deps),
    ...phraseRoutes(deps),
    getTrustList(deps),
    getVerify(),
    postVerify(deps),
  ];
}

function keyRoutes(deps: RoutesDeps): TenantRoute[] {
  return [
    listKeys(deps),
    newKey(deps),
    createKey(deps),
    showKey(deps),
    editScopes(deps),
    changeScopes(deps),
    askToRollKey(deps),
    rollKey(deps),
    askToRevokeKey(deps),
    revokeKey(deps),
  ];
}

function memberRoutes(deps: RoutesDeps): TenantRoute[] {
  return [
    listMembers(deps),
    askToInvite(deps),
    inviteMember(deps),
    editRoles(deps),
    changeRoles(deps),
    askToRemoveMember(deps),
    removeMember(deps),
    askToRevokeInvitation(deps),
    revokeInvitation(deps),
  ];
}

function signInRoutes({ provider, ...deps }: RoutesDeps): Route[] {
  return [
    getInvitation({ ...deps, provider }),
    openInvitation(),
    acceptInvitation(deps),
    getSignIn({ ...deps, provider }),
    ...(deps.links ? [postSignIn({ ...deps, provider }), confirmSignIn({ ...deps, provider })] : []),
    ...(provider ? [beginOidc({ ...deps, provider }), finishOidc({ ...deps, provider })] : []),
    signOut({ ...deps, provider }),
  ];
}
