import { afterAll, beforeAll, expect, test } from "vitest";
import type { Claims } from "./support/issuer.ts";
import { Browser } from "./support/browser.ts";
import { openConsoleWithIssuer } from "./support/open-console.ts";

const rules = [
  { group: "desk", tenant: "demo", roles: ["editor"] },
  { group: "chiefs", tenant: "demo", roles: ["editor", "chief"] },
  { group: "bosses", tenant: "times", roles: ["owner"] },
];
let world: Awaited<ReturnType<typeof openConsoleWithIssuer>>;

beforeAll(async () => {
  world = await openConsoleWithIssuer({ groups: { rules }, settings: { CONSOLE_LINKS: "on" } });
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** Signs in a person of whom the issuer states these claims, in a new browser. */
async function signIn(person: string, claims: Omit<Claims, "name">) {
  world.issuer.people.set(person, { name: person, ...claims });
  world.issuer.person = person;
  const browser = new Browser();
  return { browser, page: await browser.open(`${world.origin}/sign-in/oidc`) };
}

async function rolesOf(person: string, tenantId = "demo") {
  const { members } = await world.members.listMembers({ tenantId });
  return members.find(({ identity }) => identity?.subject === person)?.roles;
}

test("a person gets the roles of all rules that match its groups at the issuer", async () => {
  const { page } = await signIn("kari", { groups: ["desk", "chiefs", "canteen"] });
  expect(page.text).toContain("You are chief and editor here.");
  expect(await rolesOf("kari")).toEqual(["chief", "editor"]);
  expect(await rolesOf("kari", "times")).toBeUndefined();
});

test("a person who left a group has lost the group's roles after the next sign-in", async () => {
  const { browser } = await signIn("ola", { groups: ["chiefs"] });
  await signIn("ola", { groups: ["desk"] });
  expect((await browser.open(world.origin)).text).toContain("You are editor here.");
  const { page } = await signIn("ola", { groups: [] });
  expect(page.text).toContain("You are a member of no newsroom.");
  expect(await rolesOf("ola")).toBeUndefined();
});

test("a sign-in without a claim of groups takes away the roles that groups gave", async () => {
  await signIn("liv", { groups: ["desk"] });
  expect((await signIn("liv", {})).page.text).toContain("You are a member of no newsroom.");
});

test("the claim of groups may be one name instead of a list", async () => {
  expect((await signIn("siv", { groups: "desk" })).page.text).toContain("You are editor here.");
});

test("an invited member keeps the roles of the invitation, whatever groups the issuer states", async () => {
  const { browser } = await signIn("per", {});
  const { code } = await world.members.inviteMember({ tenantId: "demo", roles: ["writer"] });
  await browser.submit(`${world.origin}/invitation`, { code });
  await browser.submit(`${world.origin}/invitation/accept`);
  const { page } = await signIn("per", { groups: ["chiefs"] });
  expect(page.text).toContain("You are writer here.");
  expect((await signIn("per", { groups: [] })).page.text).toContain("You are writer here.");
});

test("the last owner stays owner after leaving the group that gave it the role", async () => {
  const { page } = await signIn("eva", { groups: ["bosses"] });
  expect(page.text).toContain("You are owner here.");
  const left = await signIn("eva", { groups: [] });
  expect([left.page.status, await rolesOf("eva", "times")]).toEqual([200, ["owner"]]);
});

test("two first sign-ins of a person at once make one member", async () => {
  const claims = { groups: ["desk"] };
  const pages = await Promise.all([signIn("ida", claims), signIn("ida", claims)]);
  expect(pages.map(({ page }) => page.status)).toEqual([200, 200]);
  expect(await rolesOf("ida")).toEqual(["editor"]);
  const { members } = await world.members.listMembers({ tenantId: "demo" });
  expect(members.filter(({ identity }) => identity?.subject === "ida")).toHaveLength(1);
});

test("CONSOLE_LINKS=on lets one-time codes sign in beside the issuer", async () => {
  const { code } = await world.members.createSignInLink({ tenantId: "demo" });
  const browser = new Browser();
  expect((await browser.open(`${world.origin}/sign-in`)).text).toMatch(/href="\/sign-in\/oidc\?[^]*One-time code/);
  expect((await browser.submit(`${world.origin}/sign-in`, { code })).text).toContain("Demo newsroom");
  const page = await browser.submit(`${world.origin}/sign-in/confirm`, { code });
  expect(page.text).toContain("You are owner here.");
});
