import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessClient, openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { linkIssuer, memberIdOf } from "../src/domain/identity.ts";
import { Browser, type Page } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { openLinkedConsole } from "./support/linked-console.ts";
import { slowRoutes } from "./support/rpc-rounds.ts";

let console: FullConsole;
let access: ReturnType<typeof accessClient>;
let ada: Browser;
const at = (query = "") => `${console.origin}/t/${console.tenantId}/audit${query}`;

beforeAll(async () => {
  console = await openFullConsole();
  access = accessClient(console.accessPort, "owner", "cli:script");
  ada = new Browser();
  await console.signIn(ada, "ada");
});
afterAll(async () => {
  await console?.[Symbol.asyncDispose]();
});

/** The rows of the table, each as what was done and to what: `made a key: Last`. */
function rowsOf({ text }: Page): string[] {
  const cells = [...text.matchAll(/<td data-label="(What|Which)"[^>]*>\s*<div>(.*?)<\/div>/gs)].map(([, , cell = ""]) =>
    cell.replace(/<[^>]*>/g, "").trim(),
  );
  return cells.flatMap((what, index) => (index % 2 === 0 ? [`${what}: ${cells[index + 1]}`] : []));
}

test("changes of keys and of endpoints are one list, newest first, which names who made each", async () => {
  using endpoints = openRpcClient(EndpointService, { target: console.dev.grpc.delivery });
  const asAda = { "vidimus-role": "owner", "vidimus-actor": memberIdOf({ issuer: linkIssuer, subject: "ada" }) };
  await access.createApiKey({ tenantId: console.tenantId, name: "First", scopes: ["publisher:read"] });
  const { endpoint } = await endpoints.createEndpoint(
    { tenantId: console.tenantId, url: "http://127.0.0.1:9/hooks" },
    { headers: asAda },
  );
  await access.createApiKey({ tenantId: console.tenantId, name: "Last", scopes: ["publisher:read"] });
  const page = await ada.open(at());
  expect(rowsOf(page).slice(0, 3)).toEqual([
    "made a key: Last",
    `made an endpoint: ${endpoint!.endpointId}`,
    "made a key: First",
  ]);
  expect(page.text).toMatch(/title="person:[0-9a-f]{32}">ada</);
  expect(page.text).toContain("cli:script");
});

test("the URL narrows the list of changes by kind, by actor and by day, and malformed filters are ignored", async () => {
  expect(new Set(rowsOf(await ada.open(at("?kind=endpoints"))).map((row) => row.split(":")[0]))).toEqual(
    new Set(["made an endpoint"]),
  );
  const byScript = rowsOf(await ada.open(at("?actor=cli%3Ascript&kind=keys")));
  expect(byScript).toEqual(["made a key: Last", "made a key: First"]);
  const [from, to] = [Date.now() - 3_600_000, Date.now()].map((time) => new Date(time).toISOString().slice(0, 10));
  expect(rowsOf(await ada.open(at(`?from=${from}&to=${to}&kind=keys&actor=cli%3Ascript`)))).toEqual(byScript);
  const none = await ada.open(at("?to=2020-01-01"));
  expect([none.status, none.text]).toEqual([200, expect.stringContaining("Nothing was changed")]);
  for (const query of ["?kind=x", "?from=2026-99-99", "?before=-1&shown=x&first=0", "?actor=%00"]) {
    expect([query, (await ada.open(at(query))).status]).toEqual([query, 200]);
  }
});

test("the pages of the audit list show each change once, also when many have the same millisecond", async () => {
  const made = await access.createApiKey({ tenantId: console.tenantId, name: "Rolled", scopes: ["publisher:read"] });
  let { keyId } = made.apiKey!;
  for (let rolls = 0; rolls < 52; rolls += 1) {
    // Access writes two entries for this, in one transaction.
    const { apiKey } = await access.rollApiKey({ tenantId: console.tenantId, keyId });
    ({ keyId } = apiKey!);
  }
  const ids: string[] = [];
  const captions: string[] = [];
  let url: URL | undefined = new URL(at("?kind=keys"));
  while (url) {
    const page: Page = await ada.open(url);
    captions.push(/<caption>\s*(.*?)\s*<\/caption>/s.exec(page.text)![1]!);
    ids.push(...[...page.text.matchAll(/<dt>request<\/dt>\s*<dd[^>]*>([^<]+)/g)].map(([, id = ""]) => id));
    const next: string | undefined = /href="([^"]+)" rel="next"/.exec(page.text)?.[1];
    const path = next?.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
    url = path === undefined ? undefined : new URL(path, console.origin);
  }
  const { entries } = await access.listAuditEntries({
    tenantId: console.tenantId,
    actions: ["create_key", "roll_key", "revoke_key", "update_key_scopes"],
    limit: 200,
  });
  expect(ids).toEqual(entries.map(({ requestId }) => requestId));
  expect(ids.length).toBeGreaterThan(100);
  expect(captions[0]).toBe("Changes 1 to 50, newest first; there are more");
  expect(captions.at(-1)).toMatch(/^Changes 101 to \d+, newest first$/);
});

test("the audit page names the services that are down, and shows the changes of the others", async () => {
  await using gateway = await openGateway();
  await gateway.access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
  await using lonely = await openLinkedConsole(gateway.grpcPort);
  const browser = new Browser();
  await lonely.signIn(browser);
  const page = await browser.open(`${lonely.origin}/t/demo/audit`);
  expect(page.status).toBe(200);
  expect(page.text).toContain("The service delivery does not answer.");
  expect(page.text).toContain("The service documents does not answer.");
  expect(rowsOf(page)).toContain("made the newsroom: Demo newsroom");
});

test("no page that these tests opened took more than two rounds of calls to services", async () => {
  expect(await slowRoutes(console.ops)).toEqual([]);
});
