import { decodeOpaqueToken, encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { Browser } from "./support/browser.ts";
import { openConsoleWithIssuer } from "./support/open-console.ts";

let world: Awaited<ReturnType<typeof openConsoleWithIssuer>>;
let origin: string;

beforeAll(async () => {
  world = await openConsoleWithIssuer();
  ({ origin } = world);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  world.issuer.people.set("kari", { name: "Kari Nordmann", email: "kari@example.org" });
  world.issuer.person = "kari";
});

const start = (path = "/") => `${origin}/sign-in/oidc?return=${encodeURIComponent(path)}`;
const isCallback = (url: URL) => url.pathname === "/sign-in/callback";
const attemptName = () => `vidimus_sign_in_${world.port}`;
const sessionName = () => `vidimus_session_${world.port}`;

const unescaped = (text: string) => text.replace(/&#(\d+);/g, (_all, code) => String.fromCodePoint(Number(code)));

/** Invites the person whom the issuer signs in, and accepts the invitation as this person. */
async function join(browser: Browser, roles: string[], tenantId = "demo") {
  const { code } = await world.members.inviteMember({ tenantId, roles, note: "" });
  await browser.submit(`${origin}/invitation`, { code });
  await browser.open(start("/invitation"));
  return browser.submit(`${origin}/invitation/accept`);
}

test("the issuer's answer opens a session", async () => {
  const browser = new Browser();
  const page = await browser.open(start());
  expect([page.status, page.url.href]).toEqual([200, `${origin}/`]);
  expect([...browser.cookies.keys()].filter((name) => name.startsWith("vidimus_"))).toEqual([sessionName()]);
});

test("the page of a person without a newsroom names the person and the issuer", async () => {
  const page = await new Browser().open(start());
  expect(page.text).toContain("Kari Nordmann");
  expect(page.text).toContain(`at ${new URL(world.issuer.url).host}`);
  expect(page.text).toContain("You are a member of no newsroom.");
});

test("with an issuer, one-time codes are off: the sign-in page asks for none, and none is taken", async () => {
  const page = await new Browser().open(`${origin}/sign-in`);
  expect(page.text).toContain("Sign in with 127.0.0.1");
  expect(page.text).not.toContain("One-time code");
  const { code } = await world.members.createSignInLink({ tenantId: "demo" });
  const browser = new Browser();
  const answers = [
    await browser.submit(`${origin}/sign-in`, { code }),
    await browser.submit(`${origin}/sign-in/confirm`, { code }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  expect((await world.members.getSignInLink({ code })).tenantId).toBe("demo");
});

test("an invited first owner signs in at the issuer, comes back to the invitation and becomes owner", async () => {
  const { code } = await world.members.inviteMember({ tenantId: "times", roles: ["owner"], note: "first owner" });
  const browser = new Browser();
  const opened = await browser.submit(`${origin}/invitation`, { code });
  expect(opened.text).toContain("You are invited to <bdi>The Times</bdi>");
  expect(opened.text).toContain("Sign in first.");
  const signedIn = await browser.open(start("/invitation"));
  expect(signedIn.url.pathname).toBe("/invitation");
  expect(signedIn.text).toContain("You are signed in as");
  const accepted = await browser.submit(`${origin}/invitation/accept`);
  expect([accepted.status, accepted.url.pathname]).toEqual([200, "/t/times"]);
  expect(accepted.text).toContain("You are owner here.");
  const { members } = await world.members.listMembers({ tenantId: "times" });
  expect(members.map(({ identity, roles }) => [identity?.issuer, identity?.subject, roles])).toEqual([
    [world.issuer.url, "kari", ["owner"]],
  ]);
});

test("a code of the issuer with another PKCE verifier than that of the attempt signs nobody in", async () => {
  const browser = new Browser();
  const asked = await browser.open(start(), ({ origin: at }) => at === world.issuer.url);
  const [state = "", nonce = "", verifier = "", ...rest] = decodeOpaqueToken(
    browser.cookies.get(attemptName()) ?? "",
    4_096,
  ) ?? [""];
  expect(asked.url.searchParams.get("code_challenge_method")).toBe("S256");
  expect(asked.url.searchParams.get("code_challenge")).toBe(
    createHash("sha256").update(String(verifier)).digest("base64url"),
  );
  const back = await browser.open(asked.url, isCallback);
  const thief = browser.copy();
  thief.cookies.set(attemptName(), encodeOpaqueToken([state, nonce, "v".repeat(43), ...rest]));
  const refused = await thief.open(back.url);
  expect([refused.status, thief.cookies.has(sessionName())]).toEqual([400, false]);
});

test("an answer of the issuer signs in once", async () => {
  const browser = new Browser();
  const back = await browser.open(start(), isCallback);
  const replayed = browser.copy();
  expect((await browser.open(back.url)).status).toBe(200);
  const again = await replayed.open(back.url);
  expect([again.status, replayed.cookies.has(sessionName())]).toEqual([400, false]);
});

test("an answer of the issuer signs in only the browser that asked", async () => {
  const browser = new Browser();
  const back = await browser.open(start(), isCallback);
  const other = await new Browser().open(back.url);
  expect([other.status, other.text]).toEqual([400, expect.stringContaining("Not signed in")]);
  const otherAttempt = new Browser();
  await otherAttempt.open(start(), ({ origin: at }) => at === world.issuer.url);
  expect((await otherAttempt.open(back.url)).status).toBe(400);
  expect((await browser.open(back.url)).status).toBe(200);
});

test.each([
  ["with another issuer", (query: URLSearchParams) => query.set("iss", "https://attacker.example")],
  ["without an issuer", (query: URLSearchParams) => query.delete("iss")],
  ["with another state", (query: URLSearchParams) => query.set("state", "x".repeat(43))],
  ["with an error", (query: URLSearchParams) => query.set("error", "access_denied")],
])("an answer %s signs nobody in", async (_what, change) => {
  const browser = new Browser();
  const back = await browser.open(start(), isCallback);
  change(back.url.searchParams);
  const refused = await browser.open(back.url);
  expect([refused.status, browser.cookies.has(sessionName())]).toEqual([400, false]);
});

test("after the end of a session, signing in leads back to the page that was asked for", async () => {
  const browser = new Browser();
  await browser.open(start());
  const { asked } = world.issuer;
  await using mongo = await MongoClient.connect(inject("mongoUrl"));
  const sessions = mongo.db(world.database).collection("sessions");
  await sessions.updateMany({}, { $set: { expiresAt: new Date() } });
  const ended = await browser.open(`${origin}/sessions`);
  expect(ended.url.pathname).toBe("/sign-in");
  const signIn = unescaped(/href="(\/sign-in\/oidc[^"]*)"/.exec(ended.text)?.[1] ?? "");
  const again = await browser.open(`${origin}${signIn}`);
  expect([again.status, again.url.pathname]).toEqual([200, "/sessions"]);
  expect(world.issuer.asked).toBe(asked);
});

/** Signs in somebody without a newsroom; returns the status and the URL of the page that follows. */
async function returnedTo(path: string) {
  world.issuer.people.set("liv", { name: "Liv" });
  world.issuer.person = "liv";
  const page = await new Browser().open(start(path), ({ hostname }) => hostname !== "127.0.0.1");
  return [page.status, page.url.href];
}

test.each(["//attacker.example", "/.//attacker.example", "https://attacker.example/"])(
  "a sign-in that should return to %s, another host, leads to the start",
  async (path) => {
    expect(await returnedTo(path)).toEqual([200, `${origin}/`]);
  },
);

test("a sign-in that should return to a path that is too long leads to the start", async () => {
  expect(await returnedTo(`/?q=${"é".repeat(450)}`)).toEqual([200, `${origin}/`]);
});

test("the loss of a role or of the membership takes effect at the person's next request", async () => {
  world.issuer.people.set("ola", { name: "Ola" });
  world.issuer.person = "ola";
  const browser = new Browser();
  expect((await join(browser, ["editor", "writer"])).text).toContain("You are editor and writer here.");
  const { members } = await world.members.listMembers({ tenantId: "demo" });
  const memberId = members.find(({ identity }) => identity?.subject === "ola")?.memberId ?? "";
  await world.members.updateMemberRoles({ tenantId: "demo", memberId, roles: ["writer"] });
  expect((await browser.open(origin)).text).toContain("You are writer here.");
  await world.members.removeMember({ tenantId: "demo", memberId });
  expect((await browser.open(origin)).text).toContain("You are a member of no newsroom.");
});

test("signing out removes the session's cookie, and leads to where the issuer's session is ended", async () => {
  const browser = new Browser();
  await browser.open(start());
  const { asked } = world.issuer;
  const out = await browser.submit(`${origin}/sign-out`);
  expect([out.status, browser.cookies.has(sessionName())]).toEqual([200, false]);
  const elsewhere = unescaped(/http-equiv="refresh" content="0; url=([^"]+)"/.exec(out.text)?.[1] ?? "");
  expect(elsewhere).toContain(`${world.issuer.url}/session/end?`);
  const question = await browser.open(elsewhere);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(question.text)?.[1] ?? "";
  const back = await browser.submit(`${world.issuer.url}/session/end/confirm`, { xsrf, logout: "yes" });
  expect(back.url.href).toBe(`${origin}/sign-in`);
  expect((await browser.open(start())).status).toBe(200);
  expect(world.issuer.asked).toBe(asked + 1);
});

test("a sign-in that must be recent asks the issuer for a proof of identity at most 15 minutes old", async () => {
  const asked = await new Browser().open(`${start()}&again=1`, ({ origin: at }) => at === world.issuer.url);
  expect(asked.url.searchParams.get("max_age")).toBe("900");
});

test("the database has the hash of the id in a session's cookie, and has that id nowhere", async () => {
  const browser = new Browser();
  await browser.open(start());
  const id = browser.cookies.get(sessionName()) ?? "";
  await using mongo = await MongoClient.connect(inject("mongoUrl"));
  const db = mongo.db(world.database);
  const rows = await Promise.all((await db.collections()).map((each) => each.find().toArray()));
  const hash = createHash("sha256").update(id).digest("hex");
  expect(id).toMatch(/^[\w-]{43}$/);
  expect(JSON.stringify(rows)).toContain(hash);
  expect(JSON.stringify(rows)).not.toContain(id);
});

test("a request under a host name that is not the console's is refused, signed in or not", async () => {
  const browser = new Browser();
  await browser.open(start());
  const cookie = `${sessionName()}=${browser.cookies.get(sessionName())}`;
  for (const host of ["attacker.example", `attacker.example:${world.port}`, `localhost:${world.port}`]) {
    for (const headers of [{ host }, { host, cookie }]) {
      const asked = request(origin, { headers }).end();
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      answer.resume();
      expect([headers, answer.statusCode]).toEqual([headers, 421]);
    }
  }
});
