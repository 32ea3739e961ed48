import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memberClient, openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { linkIssuer, personActor } from "@vidimus/kit/rpc/context/person";
import { Browser, type Page } from "./support/browser.ts";
import { type LinkedConsole, openLinkedConsole } from "./support/linked-console.ts";
import { fieldOf, hiddenOf } from "./support/page-text.ts";
import { slowRoutes } from "./support/rpc-rounds.ts";

const opened = new AsyncDisposableStack();
let console: LinkedConsole;
let members: ReturnType<typeof memberClient>;
let ada: Browser;
const at = (path: string) => `${console.origin}/t/demo${path}`;
const idOf = (subject: string) => personActor({ issuer: linkIssuer, subject });

beforeAll(async () => {
  const gateway = opened.use(await openGateway());
  await gateway.access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
  members = memberClient(gateway.grpcPort);
  console = opened.use(await openLinkedConsole(gateway.grpcPort));
  ada = await signedIn("ada");
});
afterAll(() => opened.disposeAsync());

async function signedIn(subject: string): Promise<Browser> {
  const browser = new Browser();
  await console.signIn(browser, subject);
  return browser;
}

const wordsOf = ({ text }: Page) => text.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");

/** Invites somebody, and returns the page that shows the link. */
async function invite(by: Browser, note: string, roles: readonly string[]) {
  const { text } = await by.open(at("/members/invite"));
  const form: [string, string][] = [
    ["note", note],
    ["own", ""],
    ["once", hiddenOf(text, "once")],
  ];
  return by.submit(at("/members/invite"), [...form, ...roles.map((role): [string, string] => ["roles", role])]);
}

async function rolesOf(subject: string) {
  const { members: all } = await members.listMembers({ tenantId: "demo" });
  return all.find(({ memberId }) => memberId === idOf(subject))?.roles;
}

describe("an invitation", () => {
  let code: string;
  beforeAll(async () => {
    const page = await invite(ada, "Kari, night desk", ["editor"]);
    expect(page.status).toBe(200);
    code = new URL(fieldOf(page.text, "secret")).hash.replace("#code=", "");
  });

  test("is listed without its code", async () => {
    const list = await ada.open(at("/members"));
    expect(list.text).toContain("Kari, night desk");
    expect(list.text).not.toContain(code);
  });

  test("gives the colleague who accepts it the invited role", async () => {
    const kari = await signedIn("kari");
    await members.removeMember({ tenantId: "demo", memberId: idOf("kari") });
    await kari.submit(`${console.origin}/invitation`, { code });
    const accepted = await kari.submit(`${console.origin}/invitation/accept`);
    expect(accepted.text).toContain("You are editor here.");
    expect(await rolesOf("kari")).toEqual(["editor"]);
    expect((await kari.open(at("/members"))).status).toBe(403);
  });

  test("is listed no more once it is accepted", async () => {
    expect((await ada.open(at("/members"))).text).toContain("Nobody is invited.");
  });
});

test("without an OIDC issuer an invitation's page begins with whom to ask for a sign-in code", async () => {
  const page = await invite(ada, "Nils, sports", ["editor"]);
  const code = new URL(fieldOf(page.text, "secret")).hash.replace("#code=", "");
  const { text } = await new Browser().submit(`${console.origin}/invitation`, { code });
  expect(text).toMatch(/<\/h1>\s+<p class="lead">\s+Ask whoever operates .* code for <b dir="auto">Nils, sports<\/b>/);
});

test("an invitation form that is sent twice makes one invitation", async () => {
  const { text } = await ada.open(at("/members/invite"));
  const form = { note: "Twice", roles: "writer", once: hiddenOf(text, "once") };
  const answers = await Promise.all([ada.submit(at("/members/invite"), form), ada.submit(at("/members/invite"), form)]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  const { invitations } = await members.listInvitations({ tenantId: "demo" });
  expect(invitations.filter(({ note }) => note === "Twice")).toHaveLength(1);
});

test("a member who opens an invitation reads what it changes, before and after accepting it", async () => {
  const mia = await signedIn("mia");
  await members.updateMemberRoles({ tenantId: "demo", memberId: idOf("mia"), roles: ["writer"] });
  const accept = async (role: string) => {
    const code = new URL(fieldOf((await invite(ada, "Mia", [role])).text, "secret")).hash.replace("#code=", "");
    const asked = await mia.submit(`${console.origin}/invitation`, { code });
    return [asked, await mia.submit(`${console.origin}/invitation/accept`)] as const;
  };
  const [asked, accepted] = await accept("editor");
  expect(wordsOf(asked)).toContain("You are writer here already. Accepting makes you editor, too.");
  expect(wordsOf(accepted)).toContain("The invitation is accepted: you are editor and writer here now.");
  const [askedAgain, acceptedAgain] = await accept("editor");
  expect(wordsOf(askedAgain)).toContain("You are editor and writer here already. Accepting changes nothing.");
  expect(wordsOf(acceptedAgain)).toContain("You had its roles already: nothing has changed.");
  expect(await rolesOf("mia")).toEqual(["editor", "writer"]);
});

test("a revoked invitation makes nobody a member", async () => {
  const page = await invite(ada, "Revoked", ["writer"]);
  const code = new URL(fieldOf(page.text, "secret")).hash.replace("#code=", "");
  const guest = await signedIn("guest");
  await members.removeMember({ tenantId: "demo", memberId: idOf("guest") });
  await guest.submit(`${console.origin}/invitation`, { code });
  const { invitations } = await members.listInvitations({ tenantId: "demo" });
  const path = at(`/members/invitations/${invitations.find(({ note }) => note === "Revoked")!.invitationId}/revoke`);
  expect((await ada.open(path)).text).toContain("Revoke the invitation for");
  expect((await ada.submit(path)).text).toContain("The invitation is revoked");
  expect((await ada.open(path)).status).toBe(404);
  expect((await guest.submit(`${console.origin}/invitation/accept`)).text).toContain("accepted or revoked");
  expect((await guest.submit(`${console.origin}/invitation`, { code })).text).toContain("accepted or revoked");
  expect(await rolesOf("guest")).toBeUndefined();
});

test("the last owner can be neither removed nor demoted, and the page says why", async () => {
  for (const path of [`/members/${idOf("ada")}/remove`, `/members/${idOf("ada")}/roles`]) {
    // Others that earlier tests signed in are owners, too.
    const { members: all } = await members.listMembers({ tenantId: "demo" });
    for (const { memberId, roles } of all) {
      if (memberId === idOf("ada") || !roles.includes("owner")) continue;
      await members.updateMemberRoles({ tenantId: "demo", memberId, roles: ["writer"] });
    }
    const asked = await ada.open(at(path));
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining("the last owner")]);
    expect(asked.text).not.toMatch(/Remove the member|type="checkbox"[^>]*value="owner"/);
    const refused = await ada.submit(at(path), { roles: "writer" });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("ada is the last owner")]);
  }
  const list = (await ada.open(at("/members"))).text;
  expect(list).toContain("the last owner");
  expect(list).not.toContain(`/members/${idOf("ada")}/remove`);
  const more = await ada.submit(at(`/members/${idOf("ada")}/roles`), [
    ["roles", hiddenOf((await ada.open(at(`/members/${idOf("ada")}/roles`))).text, "roles")],
    ["roles", "editor"],
  ]);
  expect(more.text).toContain("You are editor and owner here.");
  await members.updateMemberRoles({ tenantId: "demo", memberId: idOf("ada"), roles: ["owner"] });
});

test("of two owners neither is called the last owner, and one can remove the other", async () => {
  await signedIn("hal");
  expect((await ada.open(at("/members"))).text).not.toContain("the last owner");
  const path = at(`/members/${idOf("hal")}/remove`);
  expect((await ada.open(path)).text).toContain("Remove the member");
  expect((await ada.submit(path)).text).toContain("The member is removed");
  expect(await rolesOf("hal")).toBeUndefined();
});

test("when two owners demote each other at once, only one form takes effect, and one person stays owner", async () => {
  const grace = await signedIn("grace");
  const answers = await Promise.all([
    ada.submit(at(`/members/${idOf("grace")}/roles`), { roles: "writer" }),
    grace.submit(at(`/members/${idOf("ada")}/roles`), { roles: "writer" }),
  ]);
  const owners = [await rolesOf("ada"), await rolesOf("grace")].filter((roles) => roles?.includes("owner"));
  expect(owners).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  await members.updateMemberRoles({ tenantId: "demo", memberId: idOf("ada"), roles: ["owner"] });
  await members.updateMemberRoles({ tenantId: "demo", memberId: idOf("grace"), roles: ["owner"] });
});

test("a member may get a role that the form does not list", async () => {
  await signedIn("iris");
  const changed = await ada.submit(at(`/members/${idOf("iris")}/roles`), [
    ["roles", "owner"],
    ["roles", "editor"],
    ["own", " photo-desk, "],
  ]);
  expect(changed.text).toContain("The roles are changed.");
  expect(await rolesOf("iris")).toEqual(["editor", "owner", "photo-desk"]);
});

test("a malformed role of a member is refused, with the fault at the field Other roles", async () => {
  const faulty = await ada.submit(at(`/members/${idOf("iris")}/roles`), { own: "no spaces!" });
  expect([faulty.status, faulty.text]).toEqual([
    400,
    expect.stringContaining('<a href="#own">Other roles: it must be 1 to 64'),
  ]);
  expect(faulty.text).toContain('value="no spaces!"');
  expect(faulty.text).toContain('id="own-error"');
  expect(faulty.text).not.toContain('id="roles-error"');
});

test("an invitation with a malformed role is refused, with the fault at the field Other roles", async () => {
  const { text } = await ada.open(at("/members/invite"));
  const form = { note: "Faulty", roles: "editor", own: "night, no spaces!", once: hiddenOf(text, "once") };
  const malformed = await ada.submit(at("/members/invite"), form);
  expect([malformed.status, malformed.text]).toEqual([400, expect.stringContaining('id="own-error"')]);
});

test("an invitation without a role is refused, with a link to the field Roles", async () => {
  const none = await invite(ada, "Nobody yet", []);
  expect([none.status, none.text]).toEqual([
    400,
    expect.stringContaining('<a href="#roles">Roles: choose at least one role.'),
  ]);
});

test("a member who leaves its only newsroom is a member of no newsroom", async () => {
  const nina = await signedIn("nina");
  expect((await nina.submit(at(`/members/${idOf("nina")}/remove`))).text).toContain("You are a member of no newsroom.");
  expect((await nina.open(at(""))).status).toBe(404);
});

describe("an admin", () => {
  let bo: Browser;
  beforeAll(async () => {
    bo = await signedIn("bo");
    await members.updateMemberRoles({ tenantId: "demo", memberId: idOf("bo"), roles: ["admin"] });
  });

  test("cannot invite an owner", async () => {
    expect((await bo.open(at("/members/invite"))).text).not.toContain('value="owner"');
    const refused = await invite(bo, "Boss", ["owner"]);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("may not give owner")]);
  });

  test("sees the list of members, but cannot remove a member", async () => {
    const list = await bo.open(at("/members"));
    expect([list.status, list.text]).toEqual([200, expect.stringContaining('<b dir="auto">ada</b>')]);
    expect(list.text).not.toContain("/remove");
    expect((await bo.submit(at(`/members/${idOf("ada")}/remove`))).status).toBe(403);
    expect(await rolesOf("ada")).toEqual(["owner"]);
  });
});

test("made, listed or opened, an invitation shows its note as text, not as markup", async () => {
  const note = '"><script>alert(1)</script>';
  const page = await invite(ada, note, ["writer"]);
  const list = await ada.open(at("/members"));
  const code = new URL(fieldOf(page.text, "secret")).hash.replace("#code=", "");
  const invitation = await new Browser().submit(`${console.origin}/invitation`, { code });
  for (const { text } of [page, list, invitation]) {
    expect(text).not.toContain("<script>alert");
    expect(text).toContain("&#60;script&#62;alert(1)");
  }
});

test("over two pages the list of members has each of 50 new members once, in the order of names", async () => {
  for (let count = 0; count < 50; count += 1) {
    const { code } = await members.inviteMember({ tenantId: "demo", roles: ["writer"] });
    const identity = { issuer: linkIssuer, subject: `crowd-${count}` };
    await members.acceptInvitation({ code, identity, name: `Crowd ${String(count).padStart(2, "0")}` });
  }
  const first = await ada.open(at("/members"));
  expect(first.text).toContain("Members 1 to 50, by name; there are more");
  const next = /href="([^"]+)" rel="next"/.exec(first.text)![1]!;
  const second = await ada.open(new URL(next.replaceAll("&#38;", "&").replaceAll("&#61;", "="), console.origin));
  const names = [first, second].flatMap(({ text }) =>
    [...text.matchAll(/>(Crowd \d+)</g)].map(([, name = ""]) => name),
  );
  expect([names.length, new Set(names).size]).toEqual([50, 50]);
  expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b)));
});

test("no request of the tests above took more than two rounds of calls to services", async () => {
  expect(await slowRoutes(console.ops)).toEqual([]);
});
