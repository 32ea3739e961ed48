import { returnPath } from "../http/return-path.ts";
import type { OpenRoute } from "../http/route.ts";
import { actingAs } from "../rpc/acting-as.ts";
import type { MemberCalls } from "../rpc/called-methods.ts";
import { unlessNotFound } from "../rpc/unless-not-found.ts";
import { consoleActor, readCode } from "../sign-in/code.ts";
import { confirmPage } from "./confirm-sign-in.ts";
import { codeEnded, signInPage, type SignInWays } from "./sign-in-page.ts";

interface SignInDeps extends SignInWays {
  readonly members: Pick<MemberCalls, "getSignInLink">;
}

export function getSignIn(deps: SignInDeps): OpenRoute {
  return {
    access: "open",
    method: "GET",
    url: "/sign-in",
    handle: async ({ query }) => {
      const returnTo = returnPath(query.get("return"), deps.origin);
      return { status: 200, page: signInPage(deps, { returnTo, again: query.has("again") }) };
    },
  };
}

/** `POST /sign-in`: shows what a code signs in to, without using it. */
export function postSignIn(deps: SignInDeps): OpenRoute {
  return {
    access: "open",
    method: "POST",
    url: "/sign-in",
    handle: async (call) => {
      const returnTo = returnPath(call.form.get("return"), deps.origin);
      const code = readCode(call.form.get("code"));
      const request = code && deps.members.getSignInLink({ code }, actingAs(call, consoleActor));
      const link = request ? await unlessNotFound(request) : undefined;
      if (!code || !link) return { status: 400, page: signInPage(deps, { returnTo, error: codeEnded }) };
      return { status: 200, page: confirmPage({ ...link, code, returnTo }) };
    },
  };
}
