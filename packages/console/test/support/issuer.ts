import { pickFreePort } from "@vidimus/devstack/port-guard";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

/** What the issuer states of a person in addition to its subject. */
export interface Claims {
  readonly name?: string;
  readonly email?: string;
  readonly groups?: readonly string[] | string;
}

export const clientId = "console";
export const clientSecret = "s".repeat(48);

/**
 * An issuer of OpenID Connect for one console. It signs in `person` at once, without a form. A
 * browser that has a session at the issuer is not signed in anew; `asked` counts the sign-ins.
 */
export async function openIssuer(consoleOrigin: string) {
  const port = await pickFreePort();
  const url = `http://127.0.0.1:${port}`;
  const people = new Map<string, Claims>();
  const issuer = { url, people, person: "", asked: 0 };
  const provider = new Provider(url, configurationOf(consoleOrigin, people));
  provider.use(async (context, next) => {
    if (!context.path.startsWith("/interaction/")) return next();
    context.respond = false;
    issuer.asked += 1;
    await provider.interactionFinished(context.req, context.res, { login: { accountId: issuer.person } });
  });
  const server = createServer(provider.callback()).listen(port, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(issuer, {
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  });
}

function configurationOf(consoleOrigin: string, people: ReadonlyMap<string, Claims>) {
  const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${consoleOrigin}/sign-in/callback`],
        post_logout_redirect_uris: [`${consoleOrigin}/sign-in`],
      },
    ],
    jwks: { keys: [{ ...key, use: "sig", alg: "RS256" }] },
    cookies: { keys: ["only for tests"] },
    claims: { openid: ["sub"], profile: ["name"], email: ["email"], groups: ["groups"] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource: showForm } },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 60, Interaction: 60, Session: 600 },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...people.get(accountId) }),
    }),
    loadExistingGrant: async ({ oidc }: { oidc: GrantContext }) => {
      const { provider, client, session } = oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid profile email groups");
      await grant.save();
      return grant;
    },
  };
}

/** Answers with the form that asks whether to sign out. */
async function showForm(context: { body: string }, form: string): Promise<void> {
  context.body = form;
}

interface GrantContext {
  readonly provider: Provider;
  readonly client: { readonly clientId: string };
  readonly session: { readonly accountId: string };
}
