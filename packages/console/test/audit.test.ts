import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openReceiver } from "../../../services/delivery/test/support/receiver.ts";
import { accessClient, openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { linkIssuer, personActor } from "@vidimus/kit/rpc/context/person";
import { Browser, type Page } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { openLinkedConsole } from "./support/linked-console.ts";
import { hiddenOf } from "./support/page-text.ts";
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

/** The texts of a column of the table. */
function columnOf({ text }: Page, label: string): string[] {
  const cells = text.matchAll(new RegExp(`<td data-label="${label}"[^>]*>\\s*<div>(.*?)</div>`, "gs"));
  return Array.from(cells, ([, cell = ""]) => cell.replace(/<[^>]*>/g, "").trim());
}

describe("changes of keys and of endpoints", () => {
  let endpointId: string;
  let page: Page;

  beforeAll(async () => {
    using endpoints = openRpcClient(EndpointService, { target: console.dev.grpc.delivery });
    const asAda = { "vidimus-role": "owner", "vidimus-actor": personActor({ issuer: linkIssuer, subject: "ada" }) };
    await access.createApiKey({ tenantId: console.tenantId, name: "First", scopes: ["publisher:read"] });
    const { endpoint } = await endpoints.createEndpoint(
      { tenantId: console.tenantId, url: "http://127.0.0.1:9/hooks", name: "Site" },
      { headers: asAda },
    );
    await access.createApiKey({ tenantId: console.tenantId, name: "Last", scopes: ["publisher:read"] });
    ({ endpointId } = endpoint!);
    page = await ada.open(at());
  });

  test("are one list, newest first", () => {
    expect(rowsOf(page).slice(0, 3)).toEqual(["made a key: Last", "made an endpoint: Site", "made a key: First"]);
  });

  test("are listed with who made each", () => {
    expect(columnOf(page, "Who").slice(0, 3)).toEqual(["cli:script", "ada", "cli:script"]);
    expect(page.text).toMatch(/title="person:[0-9a-f]{32}">ada</);
  });

  test("link to the endpoint that was made", () => {
    expect(page.text).toContain(`/endpoints/${endpointId}`);
  });

  test("are listed with a note that changes of phrases are not logged", () => {
    expect(page.text).toContain("Changes of phrases are not logged.");
  });
});

test("the audit page and the list of keys go on naming a member who was removed", async () => {
  await console.signIn(new Browser(), "lena");
  const memberId = personActor({ issuer: linkIssuer, subject: "lena" });
  const asLena = accessClient(console.accessPort, "owner", memberId);
  await asLena.createApiKey({ tenantId: console.tenantId, name: "Lena's", scopes: ["publisher:read"] });
  await console.members.removeMember({ tenantId: console.tenantId, memberId });
  for (const path of [at(), at().replace("/audit", "/keys")]) {
    expect((await ada.open(path)).text).toContain(`title="${memberId}">lena<`);
  }
});

const keysByScript = ["made a key: Last", "made a key: First"];

test("the audit page narrows by the kind in its URL", async () => {
  expect(new Set(rowsOf(await ada.open(at("?kind=endpoints"))).map((row) => row.split(":")[0]))).toEqual(
    new Set(["made an endpoint"]),
  );
});

test("the audit page narrows by the actor in its URL", async () => {
  expect(rowsOf(await ada.open(at("?actor=cli%3Ascript&kind=keys")))).toEqual(keysByScript);
});

test("the audit page narrows by the days in its URL", async () => {
  const [from, to] = [Date.now() - 3_600_000, Date.now()].map((time) => new Date(time).toISOString().slice(0, 10));
  expect(rowsOf(await ada.open(at(`?from=${from}&to=${to}&kind=keys&actor=cli%3Ascript`)))).toEqual(keysByScript);
  for (const query of ["?to=2020-01-01", "?from=2099-01-01"]) {
    const none = await ada.open(at(query));
    expect([none.status, none.text]).toEqual([200, expect.stringContaining("Nothing was changed")]);
  }
});

test("an invalid kind, day or position in the URL of the audit page is ignored", async () => {
  const all = rowsOf(await ada.open(at()));
  const made = crypto.randomUUID();
  for (const query of ["?kind=x", "?from=2026-99-99", "?after=x&first=51", `?after=${made}&first=-1`]) {
    const page = await ada.open(at(query));
    expect([query, page.status, rowsOf(page)]).toEqual([query, 200, all]);
  }
});

test("the audit page opens even for an actor of a NUL byte in its URL", async () => {
  expect((await ada.open(at("?actor=%00"))).status).toBe(200);
});

test("the audit page says that an endpoint was paused and then started", async () => {
  const { tenantId, room } = console;
  const { endpoint } = await room.endpoints.createEndpoint({
    tenantId,
    url: "http://127.0.0.1:9/hooks",
    name: "Paused",
  });
  const { endpointId } = endpoint!;
  for (const change of ["pause", "start"]) await ada.submit(at(`/../endpoints/${endpointId}/${change}`));
  const rows = rowsOf(await ada.open(at()));
  expect(rows.slice(0, 2)).toEqual(["started an endpoint: Paused", "paused an endpoint: Paused"]);
});

test("the audit page links to a delivery that was sent again", async () => {
  await using receiver = await openReceiver();
  const { tenantId, room } = console;
  const { endpoint } = await room.endpoints.createEndpoint({ tenantId, url: receiver.url, name: "Again" });
  const { endpointId } = endpoint!;
  await room.transition(await room.push(), "publish");
  await vi.waitFor(() => expect(receiver.received).not.toEqual([]), { timeout: 20_000 });
  const list = await ada.open(at(`/../deliveries?endpoint=${endpointId}`));
  const path = /href="(\/t\/\w+\/deliveries\/[0-9a-f-]{36})"/.exec(list.text)![1]!;
  const delivery = await ada.open(`${console.origin}${path}`);
  await ada.submit(`${console.origin}${path}/again`, { once: hiddenOf(delivery.text, "once") });
  const page = await ada.open(at());
  expect(rowsOf(page)[0]).toBe("sent a delivery again: to Again");
  expect(page.text).toContain(`<a href="${path}">to <bdi>Again</bdi></a>`);
  await room.endpoints.deleteEndpoint({ tenantId, endpointId });
});

describe("the audit pages of more than 100 changes", () => {
  const ids: string[] = [];
  const captions: string[] = [];

  beforeAll(async () => {
    const made = await access.createApiKey({ tenantId: console.tenantId, name: "Rolled", scopes: ["publisher:read"] });
    let { keyId } = made.apiKey!;
    for (let rolls = 0; rolls < 52; rolls += 1) {
      // Access writes two entries for this, in one transaction.
      const { apiKey } = await access.rollApiKey({ tenantId: console.tenantId, keyId });
      ({ keyId } = apiKey!);
    }
    let url: URL | undefined = new URL(at("?kind=keys"));
    while (url) {
      const page: Page = await ada.open(url);
      captions.push(/<caption>\s*(.*?)\s*<\/caption>/s.exec(page.text)![1]!);
      ids.push(...[...page.text.matchAll(/<dt>request<\/dt>\s*<dd[^>]*>([^<]+)/g)].map(([, id = ""]) => id));
      const next: string | undefined = /href="([^"]+)" rel="next"/.exec(page.text)?.[1];
      const path = next?.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
      url = path === undefined ? undefined : new URL(path, console.origin);
    }
  });

  test("show each change once", async () => {
    const { entries } = await access.listAuditEntries({
      tenantId: console.tenantId,
      actions: ["create_key", "roll_key", "revoke_key", "update_key_scopes"],
      limit: 200,
    });
    expect(ids).toEqual(entries.map(({ requestId }) => requestId));
    expect(ids.length).toBeGreaterThan(100);
  });

  test("say in their captions which changes they show", () => {
    expect(captions).toEqual([
      "Changes 1 to 50, newest first; there are more",
      "Changes 51 to 100, newest first; there are more",
      expect.stringMatching(/^Changes 101 to \d+, newest first$/),
    ]);
  });
});

test("no request of the tests above took more than two rounds of calls to services", async () => {
  expect(await slowRoutes(console.ops)).toEqual([]);
});

test("the audit page names services that are down, and shows the changes of the others", async () => {
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
