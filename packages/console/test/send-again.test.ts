/** A form that is sent without a session: what it keeps of what was typed. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openReceiver } from "../../../services/delivery/test/support/receiver.ts";
import type { TenantRoute } from "../src/http/route.ts";
import { urlOf } from "../src/http/mount-routes.ts";
import { routes, type RoutesDeps } from "../src/pages/routes.ts";
import { Browser } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { hiddenOf } from "./support/page-text.ts";

const opened = new AsyncDisposableStack();
const ida = new Browser();
let console: FullConsole;
let base: string;

beforeAll(async () => {
  console = opened.use(await openFullConsole());
  base = `/t/${console.tenantId}`;
  await console.signIn(ida, "ida");
});
afterAll(() => opened.disposeAsync());

const at = (path: string) => `${console.origin}${base}${path}`;
/** URL of an endpoint at which nothing listens. */
const url = "http://127.0.0.1:1/hook";

/**
 * The forms of a page that are posted: from the path to which each is sent to the names of its
 * fields.
 */
function formsOf(page: string): [string, string[]][] {
  return [...page.matchAll(/<form method="post" action="([^"?]+)"[^>]*>([^]*?)<\/form>/g)].map(([, path, inner]) => [
    path ?? "",
    [...(inner ?? "").matchAll(/<(?:input|select|textarea|button)\b[^>]*?\sname="([^"]+)"/g)].map(
      ([, name]) => name ?? "",
    ),
  ]);
}

/** All forms on the pages to which links lead from these pages. */
async function crawl(...from: readonly string[]): Promise<Map<string, string[]>> {
  const [forms, seen] = [new Map<string, string[]>(), new Set(from)];
  for (const path of seen) {
    const { text } = await ida.open(`${console.origin}${path}`);
    for (const [action, names] of formsOf(text)) forms.set(action, names);
    for (const [, href] of text.matchAll(/<a [^>]*?href="([^"?#]+)"/g)) {
      if (href?.startsWith(`${base}/`) && !/export|\/audit/.test(href)) seen.add(href);
    }
  }
  return forms;
}

const submitted = routes({ links: true } as RoutesDeps).filter(
  (route): route is TenantRoute => route.access === "member" && route.method === "POST",
);

test("each field of a tenant's forms, uploads aside, is declared by its route, to be sent or typed again", async () => {
  const { text: form } = await ida.open(at("/endpoints/new"));
  await using receiver = await openReceiver();
  const endpoint = { url: receiver.url, name: "Kept", events: "snapshot.usable", once: hiddenOf(form, "once") };
  expect((await ida.submit(at("/endpoints/new"), endpoint)).status).toBe(200);
  const { text: key } = await ida.open(at("/keys/new"));
  await ida.submit(at("/keys/new"), { name: "Kept", scopes: "publisher:read", once: hiddenOf(key, "once") });
  const { text: phrase } = await ida.open(at("/phrases/new"));
  await ida.submit(at("/phrases/new"), { id: hiddenOf(phrase, "id"), language: "en", phrase: "kept" });
  await console.signIn(new Browser(), "joan");
  await console.room.transition(await console.room.push(), "publish");
  const [{ endpointId } = { endpointId: "" }] = (
    await console.room.endpoints.listEndpoints({ tenantId: console.tenantId })
  ).endpoints;
  const counted = `/replays/count?endpoint=${endpointId}&options=all`;
  await vi.waitFor(async () => expect((await ida.open(at(counted))).text).toContain("Start the replay"), 20_000);
  const forms = await crawl(base, `${base}${counted}`);

  const lost: string[] = [];
  const reached = new Set<string>();
  for (const [action, names] of forms) {
    const route = submitted.find((each) => new RegExp(`^${urlOf(each).replace(/:\w+/g, "[^/]+")}$`).test(action));
    if (!route) continue;
    reached.add(route.path);
    const kept = new Set([...Object.keys({ ...route.fields, ...route.secretFields }), "once"]);
    if (!route.isUpload) lost.push(...names.filter((name) => !kept.has(name)).map((name) => `${route.path} ${name}`));
  }
  expect(lost).toEqual([]);
  const withFields = submitted.filter(({ fields, isUpload }) => fields ?? isUpload).map(({ path }) => path);
  expect(withFields.filter((path) => !reached.has(path))).toEqual([]);
});

test("the form that starts a replay, sent without a session, comes back with each value that it had", async () => {
  const once = "r".repeat(22);
  const chosen: [string, string][] = [
    ["endpoint", "none"],
    ["since", ""],
    ["states", "exhausted"],
    ["states", "missing"],
  ];
  const { status, text } = await new Browser().submit(at("/replays"), [
    ...chosen,
    ["options", "latest"],
    ["once", once],
  ]);
  expect(status).toBe(401);
  const names = [...text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(names).toEqual([...chosen, ["options", "latest"], ["once", once]]);
});

test("an edit that was first sent without a session keeps, when sent again, what was changed meanwhile", async () => {
  const { endpoint } = await console.room.endpoints.createEndpoint({ tenantId: console.tenantId, url, name: "Before" });
  const { endpointId } = endpoint!;
  const form = at(`/endpoints/${endpointId}/edit`);
  const typed: [string, string][] = [
    ["url", url],
    ["name", "Before"],
    ["rate", "3"],
    ["opened", hiddenOf((await ida.open(form)).text, "opened")],
    ...["snapshot.usable", "snapshot.withheld"].map((event): [string, string] => ["events", event]),
  ];
  const asked = await new Browser().submit(form, typed);
  expect(asked.status).toBe(401);
  await console.room.endpoints.updateEndpoint({ tenantId: console.tenantId, endpointId, name: "Changed meanwhile" });
  const again = typed.filter(([name]) => asked.text.includes(`name="${name}"`));
  const opened = again.find(([name]) => name === "opened");
  expect(opened?.[1]).toBe(hiddenOf(asked.text, "opened"));
  await ida.submit(form, again);
  const changed = await console.room.endpoints.getEndpoint({ tenantId: console.tenantId, endpointId });
  expect(changed.endpoint).toMatchObject({ name: "Changed meanwhile", ratePerSecond: 3 });
});

test("headers typed for an endpoint are not in the form to send again, which asks for them once more", async () => {
  const visitor = new Browser();
  const typed = { url, events: "snapshot.usable", headers: "authorization: Bearer secret-token" };
  const refused = await visitor.submit(at("/endpoints/new"), typed);
  expect(refused.text).not.toContain("secret-token");
  expect(refused.text).toMatch(/<textarea\s+id="headers"/);
  expect((await visitor.submit(at("/endpoints/new"), { url })).text).not.toContain("<textarea");
});

test("an upload without a session is answered with a link to its form, not with a button to send it again", async () => {
  const pasted = new FormData();
  pasted.set("body", "{}");
  const { status, text } = await new Browser().submit(at("/trust-list/verify"), pasted);
  expect([status, text.includes("Send it again")]).toEqual([401, false]);
  expect(text).toContain(`href="${base}/trust-list/verify">Open the form again`);
});
