/** Requests that no page of this console made, and forms that come too late. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { memberClient, openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { memberIdOf } from "../src/domain/identity.ts";
import { Browser } from "./support/browser.ts";
import { type LinkedConsole, openLinkedConsole } from "./support/linked-console.ts";

const opened = new AsyncDisposableStack();
let accessPort: number;
let members: ReturnType<typeof memberClient>;
let console: LinkedConsole;
let second: LinkedConsole;

beforeAll(async () => {
  const gateway = opened.use(await openGateway());
  await gateway.access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
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
])(
  "%s %s under an attacker's host name that leads to the console is refused, and does nothing",
  async (method, path) => {
    const browser = new Browser();
    await console.signIn(browser);
    const cookie = `${console.sessionName}=${browser.cookies.get(console.sessionName)}`;
    const code = await console.newCode();
    const [status, page] = await askAs("attacker.example", method, path, cookie, `code=${code}`);
    expect([status, page]).toEqual([421, expect.stringContaining("Not this console")]);
    expect(page).not.toContain("operator");
    expect((await browser.open(console.origin)).text).toContain("Demo newsroom");
    expect((await browser.submit(`${console.origin}/sign-in/confirm`, { code })).url.pathname).toBe("/t/demo");
  },
);

test("two consoles of one host have cookies of their own: signing out of one leaves the other", async () => {
  const browser = new Browser();
  await console.signIn(browser, "ada");
  await second.signIn(browser, "grace");
  expect((await browser.open(console.origin)).text).toContain("ada");
  expect((await browser.open(second.origin)).text).toContain("grace");
  await browser.submit(`${console.origin}/sign-out`);
  expect((await browser.open(console.origin)).url.pathname).toBe("/sign-in");
  expect((await browser.open(second.origin)).text).toContain("grace");
});

test("a form whose session has ended is answered with what was typed, to be sent again", async () => {
  const browser = new Browser();
  await console.signIn(browser);
  const form = { tenant: '"><script>alert(1)</script>', code: "x".repeat(43) };
  const cookies = new Map(browser.cookies);
  await browser.submit(`${console.origin}/sign-out`);
  const page = await browser.submit(`${console.origin}/tenant`, form);
  expect([page.status, page.text]).toEqual([401, expect.stringContaining("Your session has ended")]);
  expect(page.text).toContain('value="&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;"');
  expect(page.text).not.toContain(form.code);
  // The cookie from before the sign-out no longer opens a session.
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  expect((await browser.submit(`${console.origin}/tenant`, { tenant: "demo" })).status).toBe(401);
  await console.signIn(browser);
  expect((await browser.submit(`${console.origin}/tenant`, { tenant: "demo" })).status).toBe(200);
});

test("an invitation whose inviter was removed meanwhile makes nobody a member, and the page says so", async () => {
  const inviter = { issuer: "https://id.example", subject: "inviter" };
  const { code: first } = await members.inviteMember({ tenantId: "demo", roles: ["owner"] });
  await members.acceptInvitation({ code: first, identity: inviter, name: "Inviter" });
  const asInviter = memberClient(accessPort, "owner", memberIdOf(inviter));
  const { code } = await asInviter.inviteMember({ tenantId: "demo", roles: ["editor"] });
  const browser = new Browser();
  await console.signIn(browser, "guest");
  await browser.submit(`${console.origin}/invitation`, { code });
  await members.removeMember({ tenantId: "demo", memberId: memberIdOf(inviter) });
  const page = await browser.submit(`${console.origin}/invitation/accept`);
  expect([page.status, page.text]).toEqual([
    409,
    expect.stringContaining("Who sent this invitation may not give its roles any more."),
  ]);
});

test("a newsroom in which the person is no member is not opened", async () => {
  const browser = new Browser();
  await console.signIn(browser);
  const page = await browser.submit(`${console.origin}/tenant`, { tenant: "rival" });
  expect([page.status, page.text]).toEqual([404, expect.stringContaining("There is no such newsroom.")]);
});
