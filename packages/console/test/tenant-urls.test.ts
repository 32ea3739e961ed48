/** Who gets into which page of a tenant, for every page that there is. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { memberClient, openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { urlOf } from "../src/http/mount-routes.ts";
import type { TenantRoute } from "../src/http/route.ts";
import { tenantNavigation } from "../src/pages/navigation.ts";
import { routes, type RoutesDeps } from "../src/pages/routes.ts";
import { roleFor } from "../src/domain/rights.ts";
import { linkIssuer, personActor } from "@vidimus/kit/rpc/context/person";
import { Browser } from "./support/browser.ts";
import { type LinkedConsole, openLinkedConsole } from "./support/linked-console.ts";

const opened = new AsyncDisposableStack();
let console: LinkedConsole;
let members: ReturnType<typeof memberClient>;

beforeAll(async () => {
  const gateway = opened.use(await openGateway());
  for (const tenantId of ["demo", "rival"]) await gateway.access.createTenant({ tenantId, name: tenantId });
  members = memberClient(gateway.grpcPort);
  console = opened.use(await openLinkedConsole(gateway.grpcPort));
});
afterAll(() => opened.disposeAsync());

/** Every page of a tenant, made without dependencies: only methods, paths and rights are read. */
const pages = routes({ links: true } as RoutesDeps).filter((route): route is TenantRoute => route.access === "member");
const everyPage = pages.map((route): [string, string] => [route.method, urlOf(route).replace(/:(?!tenant)\w+/g, "x")]);

const ask = (browser: Browser, method: string, path: string) =>
  method === "GET" ? browser.open(`${console.origin}${path}`) : browser.submit(`${console.origin}${path}`);

test.each(everyPage)("%s %s is 404 for a tenant that is foreign or does not exist", async (method, url) => {
  const browser = new Browser();
  await console.signIn(browser);
  for (const tenant of ["rival", "nobody", "Demo", "..%2Fdemo", "%00", "x".repeat(100)]) {
    const page = await ask(browser, method, url.replace(":tenant", tenant));
    expect([tenant, page.status]).toEqual([tenant, 404]);
    expect(page.text).not.toContain("rival");
  }
});

test.each(everyPage)("%s %s asks a visitor to sign in, whether the tenant exists or not", async (method, url) => {
  const answers = await Promise.all(
    ["demo", "nobody"].map(async (tenant) => {
      const { status, url: where, text } = await ask(new Browser(), method, url.replace(":tenant", tenant));
      const asksToSignIn = where.pathname === "/sign-in" || text.includes("Sign in in a new tab");
      return { status, path: where.pathname.replace(tenant, ""), asksToSignIn };
    }),
  );
  expect(answers[0]).toEqual(answers[1]);
  if (method === "GET") expect(answers[0]).toMatchObject({ status: 200, path: "/sign-in" });
  else expect(answers[0]).toMatchObject({ status: 401, asksToSignIn: true });
});

async function signInWriter(): Promise<Browser> {
  const browser = new Browser();
  await console.signIn(browser, "wanda");
  const memberId = personActor({ issuer: linkIssuer, subject: "wanda" });
  await members.updateMemberRoles({ tenantId: "demo", memberId, roles: ["writer"] });
  return browser;
}

const isOpenToWriter = ({ right }: Pick<TenantRoute, "right">) => roleFor(right, ["writer"]) !== undefined;

test("a page answers 403 to a member whose roles do not have the page's right", async () => {
  const browser = await signInWriter();
  const closed = pages.filter((route) => !isOpenToWriter(route));
  expect(closed.length).toBeGreaterThan(0);
  for (const route of closed) {
    const path = urlOf(route).replace(":tenant", "demo").replace(/:\w+/g, "x");
    expect([path, (await ask(browser, route.method, path)).status]).toEqual([path, 403]);
  }
});

test("of the tenant's navigation items a writer sees exactly those whose right a writer has", async () => {
  const home = await (await signInWriter()).open(`${console.origin}/t/demo`);
  for (const item of tenantNavigation.flatMap(({ items }) => items)) {
    const isListed = home.text.includes(`<a href="/t/demo${item.path}"`);
    expect([item.path, isListed]).toEqual([item.path, isOpenToWriter(item)]);
  }
});

test("each of the tenant's items in the navigation is a page that needs the right of the item", () => {
  const listed = tenantNavigation.flatMap(({ items }) => items);
  const found = listed.map(({ label, path }) => {
    const page = pages.find((route) => route.method === "GET" && route.path === path);
    return { label, path, right: page?.right };
  });
  expect(found).toEqual(listed);
});

test("the start page leads to the tenant chosen last, even if a page of another was opened since", async () => {
  const browser = new Browser();
  await console.signIn(browser, "tina");
  const { code } = await members.inviteMember({ tenantId: "rival", roles: ["editor"] });
  await browser.submit(`${console.origin}/invitation`, { code });
  expect((await browser.submit(`${console.origin}/invitation/accept`)).url.pathname).toBe("/t/rival");
  expect((await browser.submit(`${console.origin}/tenant`, { tenant: "demo" })).url.pathname).toBe("/t/demo");
  expect((await browser.open(`${console.origin}/t/rival`)).status).toBe(200);
  expect((await browser.open(console.origin)).url.pathname).toBe("/t/demo");
});
