import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openReceiver } from "../../../services/delivery/test/support/receiver.ts";
import { accessClient } from "../../../services/gateway/test/support/start-gateway.ts";
import type { Newsroom } from "../../../tests/support/newsroom.ts";
import { linkIssuer, personActor } from "@vidimus/kit/rpc/context/person";
import { Browser } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { openLinkedConsole } from "./support/linked-console.ts";
import { slowRoutes } from "./support/rpc-rounds.ts";

let console: FullConsole;
let room: Newsroom;
let ada: Browser;
const overview = async (browser = ada) => (await browser.open(`${console.origin}/t/${console.tenantId}`)).text;

beforeAll(async () => {
  console = await openFullConsole();
  ({ room } = console);
  ada = new Browser();
  await console.signIn(ada, "ada");
});
afterAll(async () => {
  await console?.[Symbol.asyncDispose]();
});

test("before the first delivery the overview and the list of deliveries say where documents are published", async () => {
  expect(await overview()).toMatch(
    /published with the editors' tools, not here\.[^.]*is in the\s+<a href="\/docs">API docs<\/a>/,
  );
  const deliveries = await ada.open(`${console.origin}/t/${console.tenantId}/deliveries`);
  expect(deliveries.text).toMatch(/Nothing was delivered yet.[^]*published with the editors' tools, not here/);
});

test("without an endpoint, and with an active endpoint, the overview says that nothing needs attention", async () => {
  expect(await overview()).toContain("Nothing needs you now.");
  await using receiver = await openReceiver();
  const { tenantId } = console;
  const { endpoint } = await room.endpoints.createEndpoint({ tenantId, url: receiver.url });
  expect(await overview()).toContain("Nothing needs you now.");
  await room.endpoints.deleteEndpoint({ tenantId, endpointId: endpoint!.endpointId });
});

test("the overview names a paused endpoint, with who paused it", async () => {
  const { tenantId } = console;
  const site = { url: "http://127.0.0.1:9/hooks", name: "<i>Site</i>" };
  const { endpoint } = await room.endpoints.createEndpoint({ tenantId, ...site });
  const { endpointId } = endpoint!;
  await ada.submit(`${console.origin}/t/${console.tenantId}/endpoints/${endpointId}/pause`);
  const text = await overview();
  expect(text).toMatch(
    /<b>“<bdi>&#60;i&#62;Site&#60;\/i&#62;<\/bdi>” was paused\s+<time[^>]*>just now<\/time><\/b> by\s+<span class="actor"[^>]*>ada</,
  );
  expect(text).toContain("It stays so until somebody starts it.");
  expect(text).toContain(`<a href="/t/${console.tenantId}/endpoints/${endpointId}">Look at the endpoint</a>`);
  expect(text).not.toContain("<i>Site");
  await room.endpoints.deleteEndpoint({ tenantId, endpointId });
});

test("the overview names an endpoint that fails again and again, with its last answer and what follows", async () => {
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
  const { tenantId } = console;
  const { endpoint } = await room.endpoints.createEndpoint({ tenantId, url: receiver.url, name: "Fails" });
  for (let count = 0; count < 12; count += 1) await room.transition(await room.push(), "publish");
  const text = await vi.waitFor(
    async () => {
      const found = await overview();
      expect(found).toContain("</bdi>” fails again and again");
      return found;
    },
    { timeout: 40_000, interval: 200 },
  );
  expect(text).toContain("“<bdi>Fails</bdi>”");
  expect(text).toContain("The last answer: 503 Service Unavailable.");
  expect(text).toContain("once it is accepted the rest follows in order");
  // Counts are cached for a minute, so only their heading is compared.
  expect(text).toContain("Deliveries, last 24 hours");
  await room.endpoints.deleteEndpoint({ tenantId, endpointId: endpoint!.endpointId });
}, 60_000);

test("the overview names a key that ends within a week, and none that ends later", async () => {
  const access = accessClient(console.accessPort);
  const inDays = (days: number) => timestampFromDate(new Date(Date.now() + days * 86_400_000));
  const key = { tenantId: console.tenantId, scopes: ["publisher:read"] };
  const { apiKey } = await access.createApiKey({ ...key, name: "Soon", expiresAt: inDays(3.5) });
  await access.createApiKey({ ...key, name: "Later", expiresAt: inDays(8) });
  const text = await overview();
  expect(text).toMatch(/A key ends\s+<time[^>]*>in 3 days<\/time>/);
  expect(text).toContain("“<bdi>Soon</bdi>”");
  expect(text).toContain(`<a href="/t/${console.tenantId}/keys/${apiKey!.keyId}/roll">Roll the key</a>`);
  expect(text).toContain("was never used");
  expect(text).not.toContain("Later");
});

test("the overview tells a writer nothing of keys and endpoints, not even that all is well", async () => {
  const { tenantId } = console;
  const { endpoint } = await room.endpoints.createEndpoint({ tenantId, url: "http://127.0.0.1:9/hooks", name: "Off" });
  const { endpointId } = endpoint!;
  await room.endpoints.disableEndpoint({ tenantId, endpointId });
  expect(await overview()).toContain("“<bdi>Off</bdi>”");
  const wanda = new Browser();
  await console.signIn(wanda, "wanda");
  const memberId = personActor({ issuer: linkIssuer, subject: "wanda" });
  await console.members.updateMemberRoles({ tenantId, memberId, roles: ["writer"] });
  const text = await overview(wanda);
  expect(text).toContain("You are writer here.");
  for (const words of [
    "Soon</bdi>",
    "Off</bdi>",
    "A key ends",
    "was paused",
    "Deliveries, last 24 hours",
    "Nothing needs you",
  ]) {
    expect(text).not.toContain(words);
  }
  await room.endpoints.deleteEndpoint({ tenantId, endpointId });
});

test("while the service delivery is down, the overview names it, and still shows the key that ends soon", async () => {
  await using alone = await openLinkedConsole(console.accessPort, {}, console.tenantId);
  const grace = new Browser();
  await alone.signIn(grace, "grace");
  const { status, text } = await grace.open(`${alone.origin}/t/${alone.tenantId}`);
  expect([status, text]).toEqual([200, expect.stringContaining("The service delivery does not answer.")]);
  expect(text).toContain("A key ends");
  expect(text).not.toContain("Nothing needs you");
});

test("no request of the tests above took more than two rounds of calls to services", async () => {
  expect(await slowRoutes(console.ops)).toEqual([]);
});
