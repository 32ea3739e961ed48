/**
 * Probes of an endpoint that has one document: they are 5 s apart at first, and further apart after
 * each one that fails.
 */
import { expect, it } from "vitest";
import { openReceiver } from "./support/receiver.ts";
import { openDelivery, openWorld, publish } from "./support/world.ts";

const hourMs = 3_600_000;

it("an endpoint is probed within a minute, although its only document has a backoff of an hour", async () => {
  await using world = await openWorld();
  await using delivery = await openDelivery(world, {
    retries: { delaysMs: [20, 20, 20, 20, hourMs], ageMsMax: 72 * hourMs },
  });
  let isUp = false;
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(isUp ? 204 : 503).end());
  await delivery.endpoint("alone", receiver.url);
  await publish(world, "alone");
  const failures = await receiver.arrivals(6);
  expect(failures[5]!.at - failures[4]!.at).toBeGreaterThanOrEqual(4_000);
  isUp = true;
  await receiver.arrivals(7);
  const sent = () => world.deliveries().countDocuments({ tenantId: "alone", state: "delivered" });
  await expect.poll(sent, { timeout: 15_000, interval: 20 }).toBe(1);
}, 60_000);
