import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openConnectProxy } from "./support/connect-proxy.ts";
import { openReceiver } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, publish, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

it("webhooks reach the receiver through the egress proxy", async () => {
  await using proxy = await openConnectProxy();
  // Each webhook needs a connection of its own.
  await using receiver = await openReceiver((_webhook, response) =>
    response.writeHead(204, { connection: "close" }).end(),
  );
  await using delivery = await openDelivery(world, {}, { egressProxy: { origin: proxy.origin } });
  const { endpointId } = await delivery.endpoint("proxied", receiver.url);
  await delivery.endpoints.testEndpoint({ tenantId: "proxied", endpointId }, asAdmin);
  await publish(world, "proxied");
  await receiver.arrivals(2);
  expect(proxy.targets.length).toBeGreaterThanOrEqual(2);
  expect(new Set(proxy.targets)).toEqual(new Set([`127.0.0.1:${receiver.port}`]));
});

describe("a range in DELIVERY_DENY_CIDRS", () => {
  const denying = { denyCidrs: ["127.0.0.0/8"] };

  it("is refused at registration, although DELIVERY_ALLOW_CIDRS has it", async () => {
    await using delivery = await openDelivery(world, {}, denying);
    const request = { tenantId: "denied", url: "http://127.0.0.1:9/" };
    await expect(delivery.endpoints.createEndpoint(request, asAdmin)).rejects.toThrow(/must not point at 127\.0\.0\.1/);
  });

  it("is not dialled for an endpoint that was registered before", async () => {
    await using receiver = await openReceiver();
    const before = await openDelivery(world);
    await before.endpoint("earlier", receiver.url);
    await before[Symbol.asyncDispose]();
    await using _ = await openDelivery(world, {}, denying);
    await publish(world, "earlier");
    await expect.poll(() => world.deliveries().countDocuments({ "attempts.failure": "address_refused" })).toBe(1);
    expect(receiver.received).toEqual([]);
  });
});
