/** Objects of another tenant under one's own URLs. */
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import type { RpcClient } from "@vidimus/kit/rpc/client/client";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openReceiver, type Receiver } from "../../../services/delivery/test/support/receiver.ts";
import { accessClient } from "../../../services/gateway/test/support/start-gateway.ts";
import { as } from "../../../tests/support/newsroom.ts";
import type { TenantRoute } from "../src/http/route.ts";
import { urlOf } from "../src/http/mount-routes.ts";
import { routes, type RoutesDeps } from "../src/pages/routes.ts";
import { linkIssuer } from "@vidimus/kit/rpc/context/person";
import { Browser } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";

const opened = new AsyncDisposableStack();
const ada = new Browser();
const secret = "Only the rival's";
let console: FullConsole;
let rival: FullConsole["room"];
let receiver: Receiver;
let deliveries: RpcClient<typeof DeliveryLogService>;
/** `updatedAt` of the rival's phrase, with which an edit would replace it. */
let read: string;
/** From the name of a parameter of a path to the id of the rival's object. */
let ids: Record<string, string>;

beforeAll(async () => {
  console = opened.use(await openFullConsole());
  await console.signIn(ada, "ada");
  rival = await console.newRoom();
  const { tenantId } = rival;
  receiver = opened.use(await openReceiver());
  deliveries = opened.use(openDevClient(console.dev, "delivery", DeliveryLogService));
  const phrases = opened.use(openDevClient(console.dev, "phrases", PhraseService));
  const access = accessClient(console.accessPort, "owner", "cli:rival");
  const { endpoint } = await rival.endpoints.createEndpoint({ tenantId, url: receiver.url, name: secret });
  const { endpointId } = endpoint!;
  const { apiKey } = await access.createApiKey({ tenantId, name: secret, scopes: ["publisher:read"] });
  const { invitation } = await console.members.inviteMember({ tenantId, roles: ["writer"], note: secret });
  const { code } = await console.members.inviteMember({ tenantId, roles: ["owner"] });
  const identity = { issuer: linkIssuer, subject: `rival-${tenantId}` };
  const { member } = await console.members.acceptInvitation({ code, identity, name: secret });
  const phraseId = randomUUID();
  const phraseJson = Buffer.from(JSON.stringify({ id: phraseId, language: "en", phrase: secret }));
  const stored = await phrases.upsertPhrase({ tenantId, phraseJson });
  read = String(JSON.parse(Buffer.from(stored.phraseJson).toString()).updatedAt);
  await rival.transition(await rival.push({ title: secret }), "publish");
  const delivery = await vi.waitFor(
    async () => {
      const { deliveries: found } = await deliveries.listDeliveries({ tenantId }, as("admin"));
      expect(found[0]?.state).toBe("delivered");
      return found[0]!;
    },
    { timeout: 20_000 },
  );
  // No receiver listens at this URL, so the replay runs until it is cancelled.
  const away = { url: "http://127.0.0.1:1/", name: secret };
  const waiting = await rival.endpoints.createEndpoint({ tenantId, ...away });
  const toWaiting = { tenantId, endpointId: waiting.endpoint!.endpointId, all: true };
  const { replay } = await deliveries.startReplay(toWaiting, as("admin"));
  ids = {
    endpoint: endpointId,
    key: apiKey!.keyId,
    invitation: invitation!.invitationId,
    member: member!.memberId,
    phrase: phraseId,
    delivery: delivery.deliveryId,
    replay: replay!.replayId,
  };
});
afterAll(async () => {
  const { endpoints } = await rival.endpoints.listEndpoints({ tenantId: rival.tenantId });
  for (const { endpointId } of endpoints)
    await rival.endpoints.disableEndpoint({ tenantId: rival.tenantId, endpointId });
  await opened.disposeAsync();
});

const withId = routes({ links: true } as RoutesDeps).filter(
  (route): route is TenantRoute => route.access === "member" && route.path.includes(":"),
);

/** The path of a route with the rival's ids, under the tenant of the reader. */
function pathOf(route: TenantRoute): string {
  const own = urlOf(route).replace("/t/:tenant", `/t/${console.tenantId}`);
  return own.replace(/:(\w+)/g, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`the rival needs an object for ":${name}" of ${route.path}`);
    return id;
  });
}

test.each(withId.filter(({ method }) => method === "GET").map((route) => [route.path, route] as const))(
  "GET %s is 404 for an object of another tenant",
  async (_, route) => {
    const { status, text } = await ada.open(`${console.origin}${pathOf(route)}`);
    expect([status, text.includes(secret)]).toEqual([404, false]);
  },
);

test("POST /endpoints/:endpoint/start does not start a paused endpoint of another tenant", async () => {
  const name = { tenantId: rival.tenantId, endpointId: ids["endpoint"]! };
  await rival.endpoints.disableEndpoint(name);
  await ada.submit(`${console.origin}/t/${console.tenantId}/endpoints/${name.endpointId}/start`);
  expect((await rival.endpoints.getEndpoint(name)).endpoint?.disablement).toBeDefined();
  await rival.endpoints.enableEndpoint(name);
});

test.each(withId.filter(({ method }) => method === "POST").map((route) => [route.path, route] as const))(
  "POST %s neither changes nor shows an object of another tenant",
  async (_, route) => {
    const before = await rivalObjects();
    const once = randomUUID().replaceAll("-", "").slice(0, 22);
    const fields = {
      once,
      url: "http://127.0.0.1:1/",
      events: "snapshot.usable",
      language: "en",
      phrase: "x",
      read,
    };
    const form = { ...fields, roles: "writer", scopes: "publisher:read", overlap: "0" };
    const { text } = await ada.submit(`${console.origin}${pathOf(route)}`, form);
    expect(text).not.toContain(secret);
    expect(await rivalObjects()).toEqual(before);
  },
);

/** What the rival has, but for what changes by itself. */
async function rivalObjects(): Promise<unknown> {
  const { tenantId } = rival;
  const { endpoints } = await rival.endpoints.listEndpoints({ tenantId });
  const { apiKeys } = await accessClient(console.accessPort, "owner", "cli:rival").listApiKeys({ tenantId });
  const { members } = await console.members.listMembers({ tenantId });
  const { invitations } = await console.members.listInvitations({ tenantId });
  const phrases = await rival.request("/v1/phrases?language=en");
  return {
    endpoints: endpoints.map(({ endpointId, name, url, disablement, updatedAt }) => ({
      endpointId,
      name,
      url,
      disablement,
      updatedAt,
    })),
    apiKeys,
    members,
    invitations,
    phrases: await phrases.text(),
    webhooks: receiver.received.length,
    replay: (await deliveries.getReplay({ tenantId, replayId: ids["replay"]! }, as("admin"))).replay?.state,
  };
}
