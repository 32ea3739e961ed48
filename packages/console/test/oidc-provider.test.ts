import { createLogger } from "@vidimus/kit/telemetry/log";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { OidcProvider } from "../src/sign-in/oidc-provider.ts";
import { openForgingIssuer } from "./support/forging-issuer.ts";

const origin = new URL("http://127.0.0.1:8090");
let issuer: Awaited<ReturnType<typeof openForgingIssuer>>;
let provider: OidcProvider;

beforeAll(async () => {
  issuer = await openForgingIssuer();
  const config = { issuer: new URL(issuer.url), clientId: "console", scope: "openid", groups: undefined };
  provider = new OidcProvider({ ...config, clientSecret: "secret" }, origin);
});
afterAll(async () => {
  await issuer?.[Symbol.asyncDispose]();
});
beforeEach(() => Object.assign(issuer.next, { alg: "RS256", status: 200 }));

const secondsNow = () => Math.floor(Date.now() / 1_000);

/** Signs in with an ID token of which some claims are changed. */
async function signIn(change: Readonly<Record<string, unknown>> = {}) {
  const { attempt } = await provider.begin("/", false);
  const now = secondsNow();
  const right = { iss: issuer.url, aud: "console", sub: "kari", nonce: attempt.nonce, iat: now, exp: now + 300 };
  issuer.next.claims = { ...right, auth_time: now, ...change };
  return provider.finish(new URL(`/sign-in/callback?code=c&state=${attempt.state}`, origin), attempt);
}

test("a valid answer of the issuer says who signed in, and when", async () => {
  const { identity, name, authTime } = await signIn({ name: "Kari" });
  expect([identity, name]).toEqual([{ issuer: issuer.url, subject: "kari" }, "Kari"]);
  expect(Math.abs(authTime.getTime() - Date.now())).toBeLessThan(60_000);
});

test.each([
  ["of another issuer", { iss: "https://attacker.example" }],
  ["for another client", { aud: "shop" }],
  ["with another nonce", { nonce: "n".repeat(43) }],
  ["without a nonce", { nonce: undefined }],
  ["without auth_time", { auth_time: undefined }],
  ["without a subject", { sub: undefined }],
  ["with an empty subject", { sub: "" }],
])("an ID token %s signs nobody in", async (_what, change) => {
  await expect(signIn(change)).rejects.toMatchObject({ kind: "unauthenticated" });
});

test("an ID token without a signature signs nobody in", async () => {
  issuer.next.alg = "none";
  await expect(signIn()).rejects.toMatchObject({ kind: "unauthenticated" });
});

test("an ID token is valid though the issuer's clock is 5 s off, and not when it is 60 s off", async () => {
  const now = secondsNow();
  for (const change of [{ exp: now - 5 }, { auth_time: now + 5 }, { nbf: now + 5 }]) {
    expect((await signIn(change)).identity.subject).toBe("kari");
  }
  for (const change of [{ exp: now - 60 }, { auth_time: now + 60 }, { nbf: now + 60 }]) {
    await expect(signIn(change)).rejects.toMatchObject({ kind: "unauthenticated" });
  }
});

test("a sign-in that the issuer dates 8 s in the future counts as made now", async () => {
  const { authTime } = await signIn({ auth_time: secondsNow() + 8 });
  expect(authTime.getTime()).toBeLessThanOrEqual(Date.now());
  expect(authTime.getTime()).toBeGreaterThan(Date.now() - 5_000);
});

test("an ID token whose auth_time is more than 24 hours ago signs nobody in", async () => {
  const dayAndMinute = 24 * 3_600 + 60;
  await expect(signIn({ auth_time: secondsNow() - dayAndMinute })).rejects.toMatchObject({ kind: "unauthenticated" });
});

test("while the issuer fails or does not answer, a sign-in is unavailable, not refused", async () => {
  issuer.next.status = 503;
  await expect(signIn()).rejects.toMatchObject({ kind: "unavailable" });
  issuer.next.status = 200;
  const overdue = vi
    .spyOn(AbortSignal, "timeout")
    .mockReturnValue(AbortSignal.abort(new DOMException("", "TimeoutError")));
  try {
    await expect(signIn()).rejects.toMatchObject({ kind: "unavailable" });
  } finally {
    overdue.mockRestore();
  }
  const nobody = new OidcProvider(
    {
      issuer: new URL("http://127.0.0.1:1"),
      clientId: "console",
      clientSecret: undefined,
      scope: "openid",
      groups: undefined,
    },
    origin,
  );
  await expect(nobody.begin("/", false)).rejects.toMatchObject({ kind: "unavailable" });
});

test("the logged error of a refused sign-in has no code, token, state, nonce, verifier or subject in it", async () => {
  const lines: string[] = [];
  const log = createLogger("console", "debug", { write: (line) => void lines.push(line) });
  const { attempt } = await provider.begin("/", false);
  const now = secondsNow();
  const right = { iss: issuer.url, aud: "console", sub: "kari-subject", iat: now, exp: now + 300, auth_time: now };
  const answers = [
    { query: `code=secretcode&state=${attempt.state}`, claims: { ...right, nonce: "foreign-nonce" } },
    { query: "code=secretcode&state=foreign-state", claims: right },
    { query: `error=access_denied&error_description=told-by-issuer&state=${attempt.state}`, claims: right },
  ];
  for (const { query, claims } of answers) {
    issuer.next.claims = claims;
    const refused = provider.finish(new URL(`/sign-in/callback?${query}`, origin), attempt);
    await refused.catch((err: unknown) => log.warn({ err }, "a sign-in was refused"));
  }
  expect(lines).toHaveLength(3);
  const secrets = ["secretcode", attempt.state, attempt.nonce, attempt.verifier, "foreign-", "kari-subject", "eyJ"];
  for (const secret of secrets) expect(lines.join("")).not.toContain(secret);
});
