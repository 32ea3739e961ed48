import type { OpenRoute } from "../http/route.ts";
import { returnPath } from "../http/return-path.ts";
import { attemptCookie } from "../sign-in/attempt-cookie.ts";
import type { OidcProvider } from "../sign-in/oidc-provider.ts";

interface BeginOidcDeps {
  readonly provider: Pick<OidcProvider, "begin">;
  readonly origin: URL;
}

export function beginOidc({ provider, origin }: BeginOidcDeps): OpenRoute {
  return {
    access: "open",
    method: "GET",
    url: "/sign-in/oidc",
    handle: async ({ query }) => {
      const { url, attempt } = await provider.begin(returnPath(query.get("return"), origin), query.has("again"));
      return { to: url.href, cookies: [attemptCookie(attempt)] };
    },
  };
}
