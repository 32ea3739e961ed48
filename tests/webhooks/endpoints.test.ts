/** Endpoints over the public API, as the people who receive webhooks manage them. */
import { Webhook as StandardWebhook } from "standardwebhooks";
import { routes } from "@vidimus/gateway/endpoints/routes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";

const base = "/v1/webhooks/endpoints";
let stack: SharedConstellation;
let tenants: Tenants;
let demo: Newsroom;
let rival: Newsroom;
let receiver: Receiver;

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
  [demo, rival] = [await tenants.create(), await tenants.create()];
  receiver = await openReceiver();
});
afterAll(async () => {
  tenants?.[Symbol.dispose]();
  await receiver?.[Symbol.asyncDispose]();
});

interface Data {
  endpoint?: { id: string; previousSecretEndsAt: string | null };
  endpoints?: object[];
  secret?: string;
  ping?: object;
  id?: string;
}

interface Answer {
  status: number;
  data: Data;
  error: { code: string; message: string; details?: { pointer: string }[] };
}

async function send(room: Newsroom, method: string, path: string, body?: unknown): Promise<Answer> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  const response = await room.request(path, { method, headers, ...json });
  const { data = {}, error = { code: "", message: "" } } = (await response.json()) as Partial<Answer>;
  return { status: response.status, data, error };
}

const register = (body: object) => send(demo, "POST", base, body);

describe("an endpoint over REST", () => {
  test("is registered, read, changed, disabled, enabled, rotated, tested and removed", async () => {
    const made = await register({
      url: receiver.url,
      documentTypes: ["core/article"],
      headers: { "X-Team": "news" },
      verify: true,
      tenantId: rival.tenantId,
    });
    expect(made.status).toBe(201);
    expect(made.data.ping).toMatchObject({ accepted: true, status: 204, failure: null });
    const { endpoint, secret = "" } = made.data;
    expect(endpoint).toMatchObject({ url: receiver.url, enabled: true, disabled: null, headerNames: ["x-team"] });
    const path = `${base}/${endpoint!.id}`;
    expect(await send(demo, "GET", path)).toMatchObject({ status: 200, data: { endpoint } });
    expect((await send(demo, "GET", base)).data.endpoints).toContainEqual(
      expect.objectContaining({ ...endpoint, health: expect.objectContaining({ gate: "closed" }) }),
    );
    expect((await send(demo, "PATCH", path, { ratePerSecond: 2 })).data.endpoint).toMatchObject({ ratePerSecond: 2 });
    const unlimited = await send(demo, "PATCH", path, { ratePerSecond: null, name: "Desk", description: "news" });
    expect(unlimited.data.endpoint).toMatchObject({ ratePerSecond: null, name: "Desk", description: "news" });
    const changed = await send(demo, "PATCH", path, { ratePerSecond: 5, documentTypes: [] });
    expect(changed.data.endpoint).toMatchObject({ ratePerSecond: 5, documentTypes: [], headerNames: ["x-team"] });
    const paused = await send(demo, "POST", `${path}/disable`);
    expect(paused.data.endpoint).toMatchObject({
      enabled: false,
      disabled: { reason: "operator", actor: `key:${demo.apiKey.slice(3, 15)}` },
    });
    expect((await send(demo, "POST", `${path}/enable`)).data.endpoint).toMatchObject({ enabled: true });
    const rotated = await send(demo, "POST", `${path}/rotate`, {});
    expect(rotated.data.endpoint?.previousSecretEndsAt).not.toBeNull();
    expect(await send(demo, "POST", `${path}/rotate`, { overlapSeconds: 60 })).toMatchObject({
      status: 409,
      error: { code: "CONFLICT" },
    });
    expect((await send(demo, "POST", `${path}/test`)).data.ping).toMatchObject({ accepted: true });
    const { headers, body } = receiver.received.at(-1)!;
    for (const each of [secret, rotated.data.secret ?? ""]) {
      new StandardWebhook(each).verify(body.toString(), headers as Record<string, string>);
    }
    expect(await send(demo, "DELETE", path)).toMatchObject({ status: 200, data: { id: endpoint!.id } });
    expect(await send(demo, "GET", path)).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
  });

  test("shows its secret when it is registered, but not when it is read or listed", async () => {
    const { endpoint, secret } = (await register({ url: receiver.url })).data;
    expect(secret).toMatch(/^whsec_/);
    const path = `${base}/${endpoint!.id}`;
    for (const each of [path, base]) expect(JSON.stringify(await send(demo, "GET", each))).not.toContain("whsec_");
    await send(demo, "DELETE", path);
  });

  test("cannot have its URL changed to another server unless its headers are given again", async () => {
    const headers = { Authorization: "Bearer of the receiver" };
    const made = await register({ url: "https://hooks.example.com/in", headers });
    const path = `${base}/${made.data.endpoint!.id}`;
    const refused = await send(demo, "PATCH", path, { url: receiver.url });
    expect(refused).toMatchObject({
      status: 400,
      error: { code: "INVALID_PAYLOAD", details: [{ pointer: "/headers" }] },
    });
    expect(refused.error.message).toContain("authorization");
    expect((await send(demo, "PATCH", path, { url: receiver.url, headers: {} })).status).toBe(200);
    await send(demo, "POST", `${path}/test`);
    expect(receiver.received.at(-1)!.headers).not.toHaveProperty("authorization");
  });

  test.each([
    ["no JSON", "{", ""],
    ["no object", [], ""],
    ["no URL", {}, ""],
    ["an unknown member", { url: "https://example.com/", urll: 1 }, ""],
    ["a short secret", { url: "https://example.com/", secret: "whsec_eA==" }, "/secret"],
    ["an unknown event", { url: "https://example.com/", events: ["snapshot.draft"] }, "/events/0"],
    ["no event", { url: "https://example.com/", events: [] }, "/events"],
    ["a number as text", { url: "https://example.com/", maxInFlight: "4" }, "/maxInFlight"],
    [
      "a header that the platform sets",
      { url: "https://example.com/", headers: { "Webhook-Id": "x" } },
      "/headers/webhook-id",
    ],
    ["an unknown type", { url: "https://example.com/", documentTypes: ["core/tag", "acme/menu"] }, "/documentTypes/1"],
    ["a malformed secret", { url: "https://example.com/", secret: `whsec_${"A".repeat(32)}=` }, "/secret"],
    ["a private address", { url: "http://10.0.0.1/" }, "/url"],
  ])("with %s is refused with 400, with a pointer if a member's value is at fault", async (_, body, pointer) => {
    const headers = { "content-type": "application/json" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await demo.request(base, { method: "POST", headers, body: text });
    const { error } = (await response.json()) as Answer;
    expect([response.status, error.code]).toEqual([400, "INVALID_PAYLOAD"]);
    if (pointer !== "") expect(error.details?.map((each) => each.pointer)).toContain(pointer);
  });

  test("with a private address is refused with the name of the setting that allows it", async () => {
    expect((await register({ url: "http://192.168.1.1/" })).error.message).toContain("DELIVERY_ALLOW_CIDRS");
  });

  test("is listed with 304 for a caller who has the current list", async () => {
    const first = await demo.request(base);
    const again = await demo.request(base, { headers: { "if-none-match": first.headers.get("etag") ?? "" } });
    expect([first.status, again.status]).toEqual([200, 304]);
  });
});

interface Log {
  items?: { id: string; state: string; webhookId: string; lastAttempt: { status: number } | null }[];
  attempts?: { status: number; answer: string }[];
  attempt?: object | null;
  replay?: { id: string; state: string; delivered: number };
}

/** Every route about one endpoint, delivery or replay. */
function routesWithId() {
  return routes.flatMap(({ method, url }) => {
    const [, resource] = /^\/v1\/webhooks\/(\w+)\/:id/.exec(url) ?? [];
    return resource ? { method, url, resource } : [];
  });
}

/** From method and URL to the body, for routes that need one. */
const bodies: Record<string, object> = {
  [`PATCH ${base}/:id`]: { maxInFlight: 1 },
  [`POST ${base}/:id/rotate`]: {},
  [`POST ${base}/:id/replays`]: { all: true },
};

/** The tenant `demo` with a key that may read webhooks only. */
async function openReader(): Promise<Newsroom> {
  const { key } = await tenants.issue(demo.tenantId, ["webhooks:read"]);
  return openNewsroom({ ...stack.dev, tenants: [{ id: demo.tenantId, apiKey: key }] }, demo.tenantId);
}

const read = async (room: Newsroom, path: string) => (await send(room, "GET", path)).data as Log;
const until = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 20_000, interval: 50 });

/** Registers an endpoint, publishes an article, and waits until it is delivered there. */
async function deliverTo({ url }: Receiver) {
  const made = await register({ url, documentTypes: ["core/article"] });
  const endpoint = made.data.endpoint!;
  const documentId = await demo.push();
  await demo.transition(documentId, "publish");
  const list = `/v1/webhooks/deliveries?endpointId=${endpoint.id}&documentId=${documentId}`;
  const deliveryId = await until(async () => {
    const { items = [] } = await read(demo, list);
    expect(items[0]?.state).toBe("delivered");
    return items[0]!.id;
  });
  return { endpoint, list, deliveryId };
}

describe("a delivery over REST", () => {
  test("is found by its document, shows its failed attempt, is expedited, sent again and replayed", async () => {
    await using other = await openReceiver();
    other.answerWith(() => 500);
    const made = await register({ url: other.url, documentTypes: ["core/article"] });
    const endpointId = made.data.endpoint!.id;
    const documentId = await demo.push();
    await demo.transition(documentId, "publish");
    const list = `/v1/webhooks/deliveries?endpointId=${endpointId}&documentId=${documentId}`;
    const failing = await until(async () => {
      const { items = [] } = await read(demo, list);
      expect(items[0]?.lastAttempt).toMatchObject({ status: 500 });
      return items[0]!;
    });
    const path = `/v1/webhooks/deliveries/${failing.id}`;
    expect((await read(demo, path)).attempts?.[0]).toMatchObject({ status: 500, failure: null });
    other.answerWith(() => 204);
    const expedited = await send(demo, "POST", `${path}/redeliver`);
    expect([expedited.status, (expedited.data as Log).attempt]).toEqual([200, null]);
    await until(async () => expect((await read(demo, list)).items?.[0]?.state).toBe("delivered"));
    const again = await send(demo, "POST", `${path}/redeliver`);
    expect((again.data as Log).attempt).toMatchObject({ status: 204, replayId: expect.any(String) });
    const started = await send(demo, "POST", `${base}/${endpointId}/replays`, { all: true, latestOnly: true });
    expect(started.status).toBe(201);
    expect(await send(demo, "POST", `${base}/${endpointId}/replays`, {})).toMatchObject({
      status: 400,
      error: { code: "INVALID_PAYLOAD", details: [{ pointer: "/all" }] },
    });
    expect((await read(demo, `${list}&webhookId=${failing.webhookId}`)).items).toMatchObject([
      { id: failing.id, event: "snapshot.usable", documentType: "core/article", version: expect.any(Number) },
    ]);
    expect(await read(demo, `${base}/${endpointId}/replays`)).toMatchObject({
      items: [{ id: (started.data as Log).replay!.id }],
      hasMore: false,
    });
    const replayId = (started.data as Log).replay!.id;
    const replay = `/v1/webhooks/replays/${replayId}`;
    await until(async () => expect((await read(demo, replay)).replay).toMatchObject({ state: "done" }));
    const ids = new Set(other.received.map(({ headers }) => headers["webhook-id"]));
    expect(ids).toContain(failing.webhookId);
    expect(other.received.map(({ headers }) => headers["vidimus-replay-id"])).toContain(replayId);
  });

  test("shows its request with the values of both HMAC headers hidden", async () => {
    await using other = await openReceiver();
    const { deliveryId } = await deliverTo(other);
    const path = `/v1/webhooks/deliveries/${deliveryId}`;
    const sent = await read(demo, `${path}?include=request`);
    const headers = { "webhook-signature": "•••", "x-vidimus-signature-256": "•••" };
    expect(sent).toMatchObject({ request: { recomputed: true, headers } });
  });

  test("shows its request only to a key with webhooks:write", async () => {
    await using other = await openReceiver();
    const { deliveryId } = await deliverTo(other);
    const path = `/v1/webhooks/deliveries/${deliveryId}`;
    expect((await send(demo, "GET", `${path}?include=request`)).status).toBe(200);
    using reader = await openReader();
    expect((await reader.request(path)).status).toBe(200);
    const refused = await send(reader, "GET", `${path}?include=request`);
    expect(refused).toMatchObject({ status: 403, error: { message: expect.stringContaining("webhooks:write") } });
  });

  test("is 404 NOT_FOUND for another tenant at every route with an id, as are its endpoint and replay", async () => {
    await using other = await openReceiver();
    const { endpoint: registered, list, deliveryId } = await deliverTo(other);
    const started = await send(demo, "POST", `${base}/${registered.id}/replays`, { all: true, latestOnly: true });
    const replayId = (started.data as Log).replay!.id;
    const replay = `/v1/webhooks/replays/${replayId}`;
    await until(async () => expect((await read(demo, replay)).replay).toMatchObject({ state: "done" }));
    const idOf: Record<string, string> = { endpoints: registered.id, deliveries: deliveryId, replays: replayId };
    const foreign = await Promise.all(
      routesWithId().map(async ({ method, url, resource }) => {
        const answer = await send(rival, method, url.replace(":id", idOf[resource] ?? ""), bodies[`${method} ${url}`]);
        return [method, url, answer.status, answer.error.code];
      }),
    );
    expect(foreign).toEqual(routesWithId().map(({ method, url }) => [method, url, 404, "NOT_FOUND"]));
    expect(foreign.length).toBeGreaterThanOrEqual(12);
    expect((await read(rival, list)).items).toEqual([]);
    expect((await send(rival, "GET", base)).data.endpoints).toEqual([]);
    const { endpoint } = (await send(demo, "GET", `${base}/${registered.id}`)).data;
    expect(endpoint).toMatchObject(registered);
  });

  test.each(["state=lost", "endpointId=1", "since=yesterday", "limit=0", "states=held"])(
    "cannot be listed with ?%s, which is 400 INVALID_QUERY",
    async (query) => {
      const answer = await send(demo, "GET", `/v1/webhooks/deliveries?${query}`);
      expect([answer.status, answer.error.code]).toEqual([400, "INVALID_QUERY"]);
    },
  );
});
