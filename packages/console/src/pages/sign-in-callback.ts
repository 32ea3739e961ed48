import { DomainError } from "@vidimus/kit/errors";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { returnPath } from "../http/return-path.ts";
import type { OpenRoute } from "../http/route.ts";
import { openSession } from "../sessions/open-session.ts";
import { applyGroups, type ApplyGroupsDeps } from "../sign-in/apply-groups.ts";
import { readAttempt } from "../sign-in/attempt-cookie.ts";
import type { OidcProvider, Vouched } from "../sign-in/oidc-provider.ts";
import type { SessionStore } from "../store/session-store.ts";
import { html } from "../markup/html.ts";
import { layout } from "./layout.ts";

export interface FinishOidcDeps extends ApplyGroupsDeps {
  readonly provider: Pick<OidcProvider, "finish">;
  readonly sessions: Pick<SessionStore, "insert" | "end">;
  readonly origin: URL;
  readonly log: Logger;
}

/**
 * `GET /sign-in/callback`: the browser returns from the issuer. Opens a session for the person whom
 * the issuer's answer proves.
 */
export function finishOidc(deps: FinishOidcDeps): OpenRoute {
  return {
    access: "open",
    method: "GET",
    url: "/sign-in/callback",
    handle: async (call) => {
      const attempt = readAttempt(call.cookie("sign_in"));
      if (!attempt) return failed;
      const vouched = await unlessUnproven(deps.provider.finish(call.url, attempt), deps.log, call.requestId);
      if (!vouched) return failed;
      await applyGroups(deps, call, vouched);
      const { identity, name, address, authTime, idToken } = vouched;
      const signedIn = { identity, name, address, authTime, idToken, way: "oidc", tenantId: "" } as const;
      const session = await openSession(deps.sessions, call, signedIn);
      return { to: returnPath(attempt.returnTo, deps.origin), cookies: [session, { kind: "sign_in" }] };
    },
  };
}

/**
 * The proven person; undefined when the proof is refused. The reason is logged, because it may show
 * an attack, and the page does not tell it.
 */
async function unlessUnproven(proof: Promise<Vouched>, log: Logger, requestId: string): Promise<Vouched | undefined> {
  try {
    return await proof;
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== "unauthenticated") throw error;
    log.warn({ requestId, err: error }, "a sign-in was refused");
    return undefined;
  }
}

const failed = {
  status: 400,
  page: layout(
    { title: "Not signed in" },
    html`<h1>Not signed in</h1>
      <p class="lead">The sign-in service did not prove who you are, or its answer was used already.</p>
      <p><a class="button primary" href="/sign-in">Try again</a></p>`,
  ),
  cookies: [{ kind: "sign_in" }],
} as const;
