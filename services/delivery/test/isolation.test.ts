import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually, untilEqual } from "./support/eventually.ts";
import { openReceiver } from "./support/receiver.ts";
import { openDelivery, openWorld, publish } from "./support/world.ts";

describe("a receiver that does not answer", () => {
  it("holds up no webhook to another receiver while 32 attempts of its own hang", async () => {
    await using world = await openWorld();
    // If the other deliveries waited for a slow attempt, this test would exceed its time limit.
    await using delivery = await openDelivery(world, { attemptMs: 60_000 });
    await using slow = await openReceiver(() => {});
    await using quick = await openReceiver();
    await delivery.endpoint("acme", slow.url);
    await delivery.endpoint("acme", quick.url);
    await Promise.all(Array.from({ length: 200 }, () => publish(world, "acme")));
    await quick.arrivals(200);
    await slow.arrivals(32);
    await eventually(() => world.deliveries().countDocuments({ state: "delivered" })).toBe(200);
    expect(slow.received).toHaveLength(32);
  });
});

describe("a newer snapshot", () => {
  it("waits for the older one of its document while 20 attempts of that one are answered with 503", async () => {
    await using world = await openWorld();
    // Leases short enough to run out while the attempts of the older one still fail.
    await using delivery = await openDelivery(world, { attemptMs: 1_200, leaseMarginMs: 200 });
    const refusals = 20;
    const documentId = randomUUID();
    const sequences: number[] = [];
    await using receiver = await openReceiver(({ body }, response) => {
      const { data } = JSON.parse(body.toString()) as { data: { documentId: string; sequence: number } };
      if (data.documentId !== documentId) return response.writeHead(204).end();
      sequences.push(data.sequence);
      // A webhook is accepted after each one that fails, so that the breaker stays closed.
      void publish(world, "acme");
      return response.writeHead(sequences.length <= refusals ? 503 : 204).end();
    });
    await delivery.endpoint("acme", receiver.url);
    await publish(world, "acme", documentId, 1);
    await receiver.arrivals(1);
    await publish(world, "acme", documentId, 2);
    await eventually(() => sequences.at(-1)).toBe(2);
    expect(sequences).toEqual([...Array.from({ length: refusals + 1 }, () => 1), 2]);
  });
});

/** How many webhooks a delivery process has posted. */
async function attemptsOf({ service }: Awaited<ReturnType<typeof openDelivery>>): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${service.opsPort}/metrics`)).text();
  return text
    .matchAll(/^vidimus_delivery_attempts_total\{.*\} (\d+)$/gm)
    .reduce((sum, [, count]) => sum + Number(count), 0);
}

describe("two delivery processes on one database", () => {
  const faults = { atOnce: [] as string[], again: [] as string[] };
  const accepted: string[] = [];
  /** How often each document was published. */
  let rounds = 1;

  beforeAll(async () => {
    await using world = await openWorld();
    await using first = await openDelivery(world, { pollMs: 20, attemptMs: 10_000 });
    const underWay = new Map<string, number>();
    let refusals = 0;
    await using receiver = await openReceiver((webhook, response) => {
      const id = String(webhook.headers["webhook-id"]);
      const document = id.slice(0, id.lastIndexOf("_"));
      underWay.set(document, (underWay.get(document) ?? 0) + 1);
      if ((underWay.get(document) ?? 0) > 1) faults.atOnce.push(document);
      if (accepted.includes(id)) faults.again.push(id);
      // Some first attempts fail, so that retries meet newer snapshots of their documents. Only
      // four do, because five failures in a row at one process would open its breaker.
      const refuse = refusals < 4 && webhook.headers["vidimus-attempt"] === "1" && id.endsWith("_1");
      if (refuse) refusals += 1;
      setTimeout(() => {
        underWay.set(document, (underWay.get(document) ?? 1) - 1);
        if (!refuse) accepted.push(id);
        response.writeHead(refuse ? 503 : 204).end();
      }, 5);
    });
    const tenantIds = Array.from({ length: 10 }, (_, n) => `shared_${n}`);
    for (const tenantId of tenantIds) await first.endpoint(tenantId, receiver.url);
    const documents = tenantIds.flatMap((tenantId) =>
      Array.from({ length: 3 }, () => [tenantId, randomUUID()] as const),
    );
    const publishAll = (sequence: number) =>
      Promise.all(documents.map(([tenantId, documentId]) => publish(world, tenantId, documentId, sequence)));
    await publishAll(1);
    // Takes some of the tenants over from the first one.
    await using second = await openDelivery(world, { pollMs: 20, attemptMs: 10_000 });
    const isShared = async () => (await attemptsOf(second)) > 0;
    while (rounds < 4 || !(await isShared())) await publishAll((rounds += 1));
    await untilEqual(() => world.deliveries().countDocuments({ state: "delivered" }), 30 * rounds);
    expect([refusals, accepted.length]).toEqual([4, 30 * rounds]);
    expect(await attemptsOf(first)).toBeGreaterThan(0);
  });

  it("attempt one delivery of a document at a time", () => {
    expect(faults.atOnce).toEqual([]);
  });

  it("repeat no delivery that was accepted", () => {
    expect(faults.again).toEqual([]);
  });

  it("deliver the snapshots of each document in order", () => {
    const orders = Map.groupBy(accepted, (id) => id.slice(0, id.lastIndexOf("_")));
    expect(orders.size).toBe(30);
    const all = Array.from({ length: rounds }, (_, n) => n + 1);
    for (const ids of orders.values()) expect(ids.map((id) => Number(id.split("_").at(-1)))).toEqual(all);
  });
});
