/**
 * What the log shows of a webhook and what it hides, and how secret, types and name of an endpoint
 * are set.
 */
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { countCommands } from "@vidimus/devstack/testing/count-commands";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { patient } from "@vidimus/kit/testing/patient";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openReceiver } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, publish, type World } from "./support/world.ts";

let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;
let log: RpcClient<typeof DeliveryLogService>;
const commands = countCommands("delivery");

beforeAll(async () => {
  world = await openWorld();
  delivery = await openDelivery(world);
  log = openRpcClient(DeliveryLogService, { target: `127.0.0.1:${delivery.service.grpcPort}` });
});
afterAll(async () => {
  commands[Symbol.dispose]();
  log?.[Symbol.dispose]();
  await delivery?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const url = "http://127.0.0.1:9/hook";
const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;

/** The only delivery of a tenant, once it has reached a state. */
const deliveredTo = (tenantId: string, state = "delivered") =>
  vi.waitFor(async () => {
    const { deliveries } = await log.listDeliveries({ tenantId });
    expect(deliveries).toMatchObject([{ state }]);
    return deliveries[0]!;
  }, patient);

/** Delivers a snapshot to a new endpoint. */
async function deliver(tenantId: string, { url: receiverUrl }: { url: string }) {
  const { endpointId } = await delivery.endpoint(tenantId, receiverUrl);
  const { documentId } = await publish(world, tenantId);
  return { endpointId, documentId, shown: await deliveredTo(tenantId) };
}

test("a delivery shows its event, document, document type, version and webhook id", async () => {
  await using receiver = await openReceiver();
  const { documentId, shown } = await deliver("sent", receiver);
  const webhookId = receiver.received[0]!.headers["webhook-id"];
  const content = { event: "snapshot.usable", documentType: "core/article", version: 4n };
  expect(shown).toMatchObject({ ...content, documentId, webhookId });
});

test("finding a delivery by its webhook id takes one read of deliveries and one of endpoints", async () => {
  const tenantId = "found";
  await using receiver = await openReceiver();
  const { endpointId, shown } = await deliver(tenantId, receiver);
  const { deliveryId, webhookId } = shown;
  // Searches of the running service may add commands to those of a call, so one call without them
  // counts.
  await vi.waitFor(async () => {
    const filtered = await commands.during(async () => {
      expect((await log.listDeliveries({ tenantId, webhookId })).deliveries).toMatchObject([
        { deliveryId, endpointId },
      ]);
    });
    const reads = filtered.filter((each) => /deliveries|endpoints/.test(each));
    expect(reads.toSorted()).toEqual(["find deliveries", "find endpoints"]);
  }, patient);
  expect((await log.listDeliveries({ tenantId, webhookId: `${webhookId}_r2` })).deliveries).toEqual([]);
  expect((await log.listDeliveries({ tenantId: "others", webhookId })).deliveries).toEqual([]);
});

test("a delivery that was signed again is found by its first webhook id and by its last", async () => {
  const tenantId = "renamed";
  await using receiver = await openReceiver();
  const { deliveryId, webhookId } = (await deliver(tenantId, receiver)).shown;
  // As if the key of its first signature had been revoked before it was accepted.
  const again = { webhookId: `${webhookId}_r2`, signingNumber: 2 };
  await world.deliveries().updateOne({ tenantId }, { $set: again });
  const found = async (id: string) =>
    (await log.listDeliveries({ tenantId, webhookId: id })).deliveries.map((each) => [each.deliveryId, each.webhookId]);
  for (const id of [webhookId, again.webhookId]) expect(await found(id)).toEqual([[deliveryId, again.webhookId]]);
  expect(await found(`${webhookId}_r3`)).toEqual([]);
});

test("a delivery shows its last request, computed again, only when the caller asks for it", async () => {
  const tenantId = "computed";
  await using receiver = await openReceiver();
  const { deliveryId } = (await deliver(tenantId, receiver)).shown;
  const [arrived] = receiver.received;
  expect((await log.getDelivery({ tenantId, deliveryId })).request).toBeUndefined();
  const { request } = await log.getDelivery({ tenantId, deliveryId, includeRequest: true });
  expect(request).toMatchObject({ recomputed: true, url: receiver.url });
  expect(Buffer.from(request!.body)).toEqual(arrived!.body);
  const headers = Object.fromEntries(request!.headers.map(({ name, value }) => [name, value]));
  for (const name of ["webhook-id", "webhook-timestamp", "vidimus-attempt", "vidimus-delivery-id", "content-digest"]) {
    expect([name, headers[name]]).toEqual([name, arrived!.headers[name]]);
  }
  expect([headers["webhook-signature"], headers["x-vidimus-signature-256"]]).toEqual(["•••", "•••"]);
  await log.redeliver({ tenantId, deliveryId }, asAdmin);
  const [, again] = await receiver.arrivals(2);
  const second = (await log.getDelivery({ tenantId, deliveryId, includeRequest: true })).request!.headers;
  expect(second.find(({ name }) => name === "vidimus-attempt")?.value).toBe(again!.headers["vidimus-attempt"]);
});

test("a receiver's credential is masked in answers and stored deliveries, even where its echo is cut", async () => {
  const tenantId = "echoing";
  const token = "planted-token-0123456789";
  await using receiver = await openReceiver(({ headers }, response) =>
    response.writeHead(500).end(`${"x".repeat(1_010)}${String(headers["authorization"])} ${token}`),
  );
  const headers = { values: { Authorization: `Bearer ${token}` } };
  const made = await delivery.endpoints.createEndpoint({ tenantId, url: receiver.url, headers, verify: true }, asAdmin);
  const name = { tenantId, endpointId: made.endpoint!.endpointId };
  await publish(world, tenantId);
  const found = await vi.waitFor(async () => {
    const { deliveries } = await log.listDeliveries({ tenantId });
    expect(deliveries).toMatchObject([{ attemptCount: expect.toSatisfy((count: number) => count > 0) }]);
    return deliveries[0]!;
  }, patient);
  const answers = [
    made,
    found,
    await log.getDelivery({ tenantId, deliveryId: found.deliveryId, includeRequest: true }),
    await delivery.endpoints.getEndpoint(name),
    await delivery.endpoints.testEndpoint(name, asAdmin),
    await delivery.endpoints.listAuditEntries({ tenantId }, asAdmin),
    await world.deliveries().find({ tenantId }).toArray(),
  ];
  const text = JSON.stringify(answers, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  expect(text).toContain("•••");
  expect(text).not.toContain("planted");
  expect(made.ping?.answer).toBe(`${"x".repeat(1_010)}•••`);
});

test("a receiver that checks HMACs accepts a ping that is signed with the secret that the caller gave", async () => {
  const secret = secretOf(24);
  await using receiver = await openReceiver(({ headers, body }, response) => {
    new StandardWebhook(secret).verify(body.toString(), headers as Record<string, string>);
    response.writeHead(204).end();
  });
  const made = await delivery.endpoints.createEndpoint(
    { tenantId: "given", url: receiver.url, secret, verify: true },
    asAdmin,
  );
  expect(made).toMatchObject({ secret: "", ping: { accepted: true } });
});

test("a given secret must be whsec_ and the base64 of 24 to 64 bytes", async () => {
  const secret = secretOf(24);
  for (const bad of ["whsec_", secretOf(23), secretOf(65), secret.slice(6), `${secret}=`, "whsec_not base64"]) {
    const refused = delivery.endpoints.createEndpoint({ tenantId: "bounded", url, secret: bad }, asAdmin);
    await expect(refused).rejects.toThrow("secret must be whsec_ and the base64 of 24 to 64 random bytes");
  }
  for (const good of [secret, secretOf(64)]) {
    await delivery.endpoints.createEndpoint({ tenantId: "bounded", url, secret: good }, asAdmin);
  }
});

test("URL and secret change in one step: neither server gets a webhook signed with the other's secret", async () => {
  const tenantId = "moved";
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await using old = await openReceiver((_webhook, response) => void released.then(() => response.writeHead(500).end()));
  await using next = await openReceiver();
  const [first, second] = [secretOf(32), secretOf(40)];
  const made = await delivery.endpoints.createEndpoint({ tenantId, url: old.url, secret: first }, asAdmin);
  const name = { tenantId, endpointId: made.endpoint!.endpointId };
  await publish(world, tenantId);
  await old.arrivals(1);
  const changed = await delivery.endpoints.updateEndpoint({ ...name, url: next.url, secret: second }, asAdmin);
  expect(changed).toMatchObject({ secret: "", endpoint: { url: next.url } });
  release();
  await next.arrivals(1);
  const verify = (secret: string, { headers, body }: (typeof old.received)[number]) =>
    new StandardWebhook(secret).verify(body.toString(), headers as Record<string, string>);
  for (const each of old.received) expect(() => verify(second, each)).toThrow();
  for (const each of next.received) expect(() => verify(first, each)).toThrow();
  verify(first, old.received[0]!);
  verify(second, next.received[0]!);
});

test("an update with rotateSecret makes a new secret and returns it", async () => {
  const tenantId = "renewed";
  const given = secretOf(32);
  const { endpoint } = await delivery.endpoints.createEndpoint({ tenantId, url, secret: given }, asAdmin);
  const name = { tenantId, endpointId: endpoint!.endpointId };
  const { secret } = await delivery.endpoints.updateEndpoint({ ...name, rotateSecret: true }, asAdmin);
  expect(secret).toMatch(/^whsec_.{44}$/);
  expect(secret).not.toBe(given);
});

test("an update with both rotateSecret and a secret is refused", async () => {
  const tenantId = "both";
  const { endpointId } = await delivery.endpoint(tenantId, url);
  const update = { tenantId, endpointId, rotateSecret: true, secret: secretOf(32) };
  const refused = delivery.endpoints.updateEndpoint(update, asAdmin);
  await expect(refused).rejects.toThrow("must not be given when one is to be made");
});

test("document types that the tenant lacks are refused and named, except those the endpoint has already", async () => {
  const tenantId = "typed";
  world.feed.ownTypes.set(tenantId, ["acme/recipe"]);
  const types = (...names: string[]) => ({ documentTypes: { names } });
  const create = (request: object) => delivery.endpoints.createEndpoint({ tenantId, url, ...request }, asAdmin);
  await expect(create(types("core/article", "acme/menu", "acme/wine"))).rejects.toThrow("acme/menu, acme/wine");
  const { endpoint } = await create(types("core/article", "acme/recipe"));
  const name = { tenantId, endpointId: endpoint!.endpointId };
  world.feed.ownTypes.delete(tenantId);
  const update = (request: object) => delivery.endpoints.updateEndpoint({ ...name, ...request }, asAdmin);
  expect((await update({ maxInFlight: 3 })).endpoint?.documentTypes).toContain("acme/recipe");
  expect((await update(types("acme/recipe", "core/tag"))).endpoint?.documentTypes).toContain("acme/recipe");
  await expect(update(types("acme/menu"))).rejects.toThrow("acme/menu");
});

/** Gives an endpoint a name with spaces around it, and a description. */
async function nameOne(tenantId: string) {
  const { endpoint } = await delivery.endpoints.createEndpoint({ tenantId, url }, asAdmin);
  const name = { tenantId, endpointId: endpoint!.endpointId };
  await delivery.endpoints.updateEndpoint({ ...name, name: " Desk ", description: "Who\nreads it" }, asAdmin);
  return name;
}

test("an endpoint is listed with its given name, trimmed, and its given description", async () => {
  const { tenantId } = await nameOne("named");
  const { endpoints } = await delivery.endpoints.listEndpoints({ tenantId });
  expect(endpoints).toMatchObject([{ name: "Desk", description: "Who\nreads it" }]);
});

test("an endpoint whose name is made empty gets its URL's host and port as name", async () => {
  const name = await nameOne("unnamed");
  expect((await delivery.endpoints.updateEndpoint({ ...name, name: "" }, asAdmin)).endpoint?.name).toBe("127.0.0.1:9");
});

test("a name or description that is too long, or has a control character, is refused", async () => {
  const name = await nameOne("strict");
  const tooLong = [{ name: "x".repeat(201) }, { description: "x".repeat(1_001) }];
  for (const bad of [...tooLong, { name: "a\u0000" }, { description: "a\u0000" }]) {
    await expect(delivery.endpoints.updateEndpoint({ ...name, ...bad }, asAdmin)).rejects.toThrow("must have");
  }
});
