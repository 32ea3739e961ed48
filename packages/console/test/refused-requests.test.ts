/** Requests that no page of this console made, and forms that come too late. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { memberClient, openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { linkIssuer, personActor } from "@vidimus/kit/rpc/context/person";
import { Browser } from "./support/browser.ts";
import { type LinkedConsole, openLinkedConsole } from "./support/linked-console.ts";
import { hiddenOf } from "./support/page-text.ts";

const opened = new AsyncDisposableStack();
let accessPort: number;
let members: ReturnType<typeof memberClient>;
let console: LinkedConsole;
let second: LinkedConsole;

beforeAll(async () => {
  const gateway = opened.use(await openGateway());
  await gateway.access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
  await gateway.access.createTenant({ tenantId: "rival", name: "Rival newsroom" });
  accessPort = gateway.grpcPort;
  members = memberClient(accessPort);
  console = opened.use(await openLinkedConsole(gateway.grpcPort));
  second = opened.use(await openLinkedConsole(gateway.grpcPort));
});
afterAll(() => opened.disposeAsync());

/**
 * Sends a request as a browser does after another name was made to resolve to the console's
 * address.
 */
async function askAs(host: string, method: string, path: string, cookie: string, form = ""): Promise<[number, string]> {
  const headers = {
    host,
    cookie,
    origin: `http://${host}`,
    "sec-fetch-site": "same-origin",
    "content-type": "application/x-www-form-urlencoded",
  };
  const asked = request(console.origin, { method, path, headers }).end(form);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return [answer.statusCode ?? 0, await text(answer)];
}

test.each([
  ["GET", "/"],
  ["GET", "/t/demo"],
  ["GET", "/sessions"],
  ["GET", "/invitation"],
  ["GET", "/sign-in"],
  ["GET", "/nothing-here"],
  ["POST", "/sign-in"],
  ["POST", "/sign-in/confirm"],
  ["POST", "/invitation"],
  ["POST", "/invitation/accept"],
  ["POST", "/sessions/end"],
  ["POST", "/tenant"],
  ["POST", "/sign-out"],
])("%s %s under a foreign host name answers 421, and leaves session and code valid", async (method, path) => {
  const browser = new Browser();
  await console.signIn(browser);
  const cookie = `${console.sessionName}=${browser.cookies.get(console.sessionName)}`;
  const code = await console.newCode();
  const [status, page] = await askAs("attacker.example", method, path, cookie, `code=${code}`);
  expect([status, page]).toEqual([421, expect.stringContaining("Not this console")]);
  expect(page).not.toContain("operator");
  expect((await browser.open(console.origin)).text).toContain("Demo newsroom");
  expect((await browser.submit(`${console.origin}/sign-in/confirm`, { code })).url.pathname).toBe("/t/demo");
});

const undecodable = ["/%zz", "/%", "/t/demo/keys/%ff", "/assets/%c3%28?x=%zz"];

test.each(undecodable)("%s, which cannot be decoded, gets the 404 page", async (path) => {
  const answer = await fetch(`${console.origin}${path}`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await answer.text()).toContain("There is nothing at this address.");
});

test.each(undecodable)("%s, which cannot be decoded, gets the 421 page under a foreign host name", async (path) => {
  expect(await askAs("attacker.example", "GET", path, "")).toEqual([421, expect.stringContaining("Not this console")]);
});

test("a key's id of 5,000 characters in a path reaches the page of the key, which answers 404", async () => {
  const path = `/t/demo/keys/${"x".repeat(5_000)}`;
  const browser = new Browser();
  await console.signIn(browser);
  const cookie = `${console.sessionName}=${browser.cookies.get(console.sessionName)}`;
  const answer = await fetch(`${console.origin}${path}`, { headers: { cookie } });
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining("has no key xxxxx")]);
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await askAs("attacker.example", "GET", path, "")).toEqual([421, expect.stringContaining("Not this console")]);
});

test("the sign-in page is shown although its query cannot be decoded", async () => {
  const page = await new Browser().open(`${console.origin}/sign-in?return=/%zz`);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining("One-time code")]);
  expect(hiddenOf(page.text, "return")).toBe("/%zz");
});

test("a person cannot end the session of another person", async () => {
  const [here, elsewhere, grace] = [new Browser(), new Browser(), new Browser()];
  await console.signIn(here, "nora");
  await console.signIn(elsewhere, "nora");
  await console.signIn(grace, "grace");
  const session = hiddenOf((await here.open(`${console.origin}/sessions`)).text, "session");
  await grace.submit(`${console.origin}/sessions/end`, { session });
  expect((await elsewhere.open(`${console.origin}/sessions`)).url.pathname).toBe("/sessions");
  await here.submit(`${console.origin}/sessions/end`, { session });
  expect((await elsewhere.open(`${console.origin}/sessions`)).url.pathname).toBe("/sign-in");
});

test("two consoles on one host have separate cookies: signing out of one keeps the session of the other", async () => {
  const browser = new Browser();
  await console.signIn(browser, "ada");
  await second.signIn(browser, "grace");
  expect((await browser.open(console.origin)).text).toContain("ada");
  expect((await browser.open(second.origin)).text).toContain("grace");
  await browser.submit(`${console.origin}/sign-out`);
  expect((await browser.open(console.origin)).url.pathname).toBe("/sign-in");
  expect((await browser.open(second.origin)).text).toContain("grace");
});

test("a form whose session has ended comes back with the fields of its route, to be sent again", async () => {
  const browser = new Browser();
  await console.signIn(browser);
  const form = { tenant: '"><script>alert(1)</script>', code: "x".repeat(43) };
  await browser.submit(`${console.origin}/sign-out`);
  const page = await browser.submit(`${console.origin}/tenant`, form);
  expect([page.status, page.text]).toEqual([401, expect.stringContaining("Your session has ended")]);
  expect(page.text).toContain('value="&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;"');
  expect(page.text).toContain("<button>Send it again</button>");
  expect(page.text).not.toContain(form.code);
  await console.signIn(browser);
  expect((await browser.submit(`${console.origin}/tenant`, { tenant: "demo" })).status).toBe(200);
});

test("a cookie that was copied before a sign-out is refused after it", async () => {
  const browser = new Browser();
  await console.signIn(browser);
  const before = browser.copy();
  await browser.submit(`${console.origin}/sign-out`);
  expect((await before.submit(`${console.origin}/tenant`, { tenant: "demo" })).status).toBe(401);
});

test("accepting an invitation is refused with the reason when its inviter is no member any more", async () => {
  const inviter = { issuer: "https://id.example", subject: "inviter" };
  const { code: first } = await members.inviteMember({ tenantId: "demo", roles: ["owner"] });
  await members.acceptInvitation({ code: first, identity: inviter, name: "Inviter" });
  const asInviter = memberClient(accessPort, "owner", personActor(inviter));
  const { code } = await asInviter.inviteMember({ tenantId: "demo", roles: ["editor"] });
  const browser = new Browser();
  await console.signIn(browser, "guest");
  const guest = personActor({ issuer: linkIssuer, subject: "guest" });
  await members.removeMember({ tenantId: "demo", memberId: guest });
  await browser.submit(`${console.origin}/invitation`, { code });
  // Another owner, because the last one cannot be removed.
  await console.signIn(new Browser(), "ada");
  await members.removeMember({ tenantId: "demo", memberId: personActor(inviter) });
  const page = await browser.submit(`${console.origin}/invitation/accept`);
  expect([page.status, page.text]).toEqual([
    409,
    expect.stringContaining("Who sent this invitation may not give its roles any more."),
  ]);
  const { members: found } = await members.listMembers({ tenantId: "demo" });
  expect(found.map(({ memberId }) => memberId)).not.toContain(guest);
});

test("a newsroom in which the person is no member is not opened", async () => {
  const browser = new Browser();
  await console.signIn(browser);
  const page = await browser.submit(`${console.origin}/tenant`, { tenant: "rival" });
  expect([page.status, page.text]).toEqual([404, expect.stringContaining("There is no such newsroom.")]);
});
