/** Making secrets and changing members need a sign-in of the last 15 minutes. */
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { urlOf } from "../src/http/mount-routes.ts";
import { routes, type RoutesDeps } from "../src/pages/routes.ts";
import { personActor } from "@vidimus/kit/rpc/context/person";
import { Browser } from "./support/browser.ts";
import { openConsoleWithIssuer } from "./support/open-console.ts";
import { hiddenOf } from "./support/page-text.ts";

let world: Awaited<ReturnType<typeof openConsoleWithIssuer>>;
let kari: Browser;
const at = (path: string) => `${world.origin}/t/demo${path}`;

beforeAll(async () => {
  world = await openConsoleWithIssuer();
  world.issuer.people.set("kari", { name: "Kari" });
  world.issuer.person = "kari";
  kari = new Browser();
  const { code } = await world.members.inviteMember({ tenantId: "demo", roles: ["owner"] });
  await kari.submit(`${world.origin}/invitation`, { code });
  await kari.open(`${world.origin}/sign-in/oidc`);
  await kari.submit(`${world.origin}/invitation/accept`);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** Makes every session's proof of identity this old. */
async function age(minutes: number): Promise<void> {
  await using mongo = new MongoClient(inject("mongoUrl"));
  const authTime = new Date(Date.now() - minutes * 60_000);
  await mongo.db(world.database).collection("sessions").updateMany({}, { $set: { authTime } });
}

test("a person whose sign-in is too old is asked to sign in before the form, and comes back to the form", async () => {
  await age(16);
  const asked = await kari.open(at("/keys/new"));
  expect(asked.url.pathname).toBe("/sign-in");
  const [, signIn = ""] = /href="(\/sign-in\/oidc[^"]*)"/.exec(asked.text) ?? [];
  const path = signIn.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
  const back = await kari.open(`${world.origin}${path}`);
  expect([back.url.pathname, back.status]).toEqual(["/t/demo/keys/new", 200]);
});

test("a form sent with too old a sign-in comes back as typed, and takes effect when the sign-in is recent", async () => {
  const once = hiddenOf((await kari.open(at("/keys/new"))).text, "once");
  await age(16);
  const form = { name: "Typed", scopes: "publisher:read", once };
  const refused = await kari.submit(at("/keys/new"), form);
  expect([refused.status, refused.text]).toEqual([401, expect.stringContaining("a sign-in of the last 15 minutes")]);
  const kept = Object.keys(form).map((name) => [name, hiddenOf(refused.text, name)]);
  expect(Object.fromEntries(kept)).toEqual(form);
  expect((await kari.open(at("/keys"))).text).toContain("No key is valid now.");
  await age(1);
  expect((await kari.submit(at("/keys/new"), form)).status).toBe(200);
});

const memberId = () => personActor({ issuer: world.issuer.url, subject: "kari" });

test("pages that make secrets or change members need a recent sign-in; key, member and audit lists do not", async () => {
  await age(16);
  const asking = routes({} as RoutesDeps).flatMap((route) => {
    if (route.access !== "member" || !route.recentSignIn) return [];
    return [`${route.method} ${urlOf(route).replace("/t/:tenant", "")}`];
  });
  expect(asking.toSorted()).toEqual([
    "GET /endpoints/:endpoint/rotate",
    "GET /endpoints/new",
    "GET /keys/:key/roll",
    "GET /keys/new",
    "GET /members/:member/remove",
    "GET /members/:member/roles",
    "GET /members/invite",
    "POST /endpoints/:endpoint/rotate",
    "POST /endpoints/new",
    "POST /keys/:key/roll",
    "POST /keys/new",
    "POST /members/:member/remove",
    "POST /members/:member/roles",
    "POST /members/invite",
  ]);
  const refused = await kari.submit(at(`/members/${memberId()}/roles`), { roles: "writer" });
  expect(refused.status).toBe(401);
  for (const path of ["/keys", "/members", "/audit"]) expect((await kari.open(at(path))).status).toBe(200);
});
