import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { promisedPace } from "../src/config.ts";
import type { DeliveryRow } from "../src/store/rows.ts";
import { snapshotOf } from "./support/feed.ts";
import { webhookIdOf } from "../src/domain/payload.ts";
import { deliveryIdOf } from "../src/domain/delivery.ts";
import { openReceiver, type Receiver } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, publish, type World } from "./support/world.ts";

const [documents, perDocument] = [50_000, 4];
const rows = documents * perDocument;
const tenantId = "backlog";

/** Stores rows as ingest does while the endpoint is disabled. */
async function storeBacklog(world: World, endpointId: string): Promise<void> {
  for (let at = 0; at < documents; at += 1_000) {
    const batch = Array.from({ length: 1_000 }, () => randomUUID()).flatMap((documentId) =>
      Array.from({ length: perDocument }, (_, n): DeliveryRow => {
        const snapshot = snapshotOf(tenantId, documentId, n + 1);
        world.feed.store(snapshot);
        const webhookId = webhookIdOf(snapshot);
        const ids = { _id: deliveryIdOf({ endpointId }, webhookId), tenantId, endpointId, documentId, webhookId };
        const due = n === 0 ? { nextAttemptAt: new Date() } : {};
        const counts = { generation: 0, attemptCount: 0, retryCount: 0, attempts: [], bodyBytes: 2_000 };
        const times = { sequence: n + 1, signingNumber: 1, createdAt: new Date() };
        return { ...ids, ...times, ...counts, ...due, state: "pending" };
      }),
    );
    await world.deliveries().insertMany(batch, { ordered: false });
  }
}

// The tests are stages of one story: each goes on where the one before has ended.
describe("an endpoint for which 200,000 rows are held", { timeout: 3_600_000 }, () => {
  const stack = new AsyncDisposableStack();
  const newest = new Map<string, number>();
  const inversions: string[] = [];
  let received = 0;
  let world: World;
  let healthy: Receiver;
  let delivery: Awaited<ReturnType<typeof openDelivery>>;
  let endpointId: string;

  beforeAll(async () => {
    world = stack.use(await openWorld());
    healthy = stack.use(await openReceiver());
    const receiver = stack.use(
      await openReceiver((webhook, response) => {
        const { data } = JSON.parse(webhook.body.toString()) as { data: { documentId: string; sequence: number } };
        if (data.sequence < (newest.get(data.documentId) ?? 0)) inversions.push(`${data.documentId} ${data.sequence}`);
        newest.set(data.documentId, data.sequence);
        received += 1;
        receiver.received.length = 0;
        response.writeHead(204).end();
      }),
    );
    // The pace of other tests gives rows up after a minute.
    delivery = stack.use(await openDelivery(world, promisedPace));
    ({ endpointId } = await delivery.endpoint(tenantId, receiver.url));
    await delivery.endpoint("healthy", healthy.url);
    await delivery.endpoints.disableEndpoint({ tenantId, endpointId }, asAdmin);
    await storeBacklog(world, endpointId);
  });
  afterAll(() => stack.disposeAsync());

  it("is enabled, disabled and enabled again within two seconds", async () => {
    const startedAt = performance.now();
    await delivery.endpoints.enableEndpoint({ tenantId, endpointId }, asAdmin);
    await delivery.endpoints.disableEndpoint({ tenantId, endpointId }, asAdmin);
    await delivery.endpoints.enableEndpoint({ tenantId, endpointId }, asAdmin);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it("lets 100 webhooks of another tenant arrive before all of its own have arrived", async () => {
    for (let n = 1; n <= 100; n += 1) {
      await publish(world, "healthy");
      await healthy.arrivals(n);
    }
    expect(received).toBeLessThan(rows);
  });

  it("gets all 200,000 webhooks, those of each document in order", async () => {
    await vi.waitUntil(async () => received >= rows, { timeout: 3_000_000, interval: 500 });
    await vi.waitUntil(
      async () => (await world.deliveries().countDocuments({ tenantId, state: "delivered" })) === rows,
      { timeout: 60_000, interval: 500 },
    );
    expect(inversions).toEqual([]);
  });
});
