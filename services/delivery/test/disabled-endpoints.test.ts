import { type MongoCommand, mongoCommands } from "@vidimus/kit/mongo/mongo";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "./support/eventually.ts";
import { openReceiver, type ReceivedWebhook, type Receiver } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, publish, type World } from "./support/world.ts";

const dayMs = 24 * 3_600_000;
const commands: string[] = [];
const note = (message: unknown) => {
  const { appName, name, collection } = message as MongoCommand;
  if (appName.endsWith("delivery")) commands.push(`${name} ${collection}`);
};
let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;

beforeAll(async () => {
  mongoCommands.subscribe(note);
  world = await openWorld();
  // With a lease margin this long, hundreds of lanes are leased ahead of their attempts, also when a
  // busy machine takes most of a second for an answer.
  const retries = { delaysMs: [50, 100], ageMsMax: 3 * dayMs };
  delivery = await openDelivery(world, { attemptMs: 10_000, leaseMarginMs: 30_000, retries });
});
afterAll(async () => {
  await delivery[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
  mongoCommands.unsubscribe(note);
});

const typeOf = ({ body }: ReceivedWebhook) => (JSON.parse(body.toString()) as { type: string }).type;
const sequences = ({ received }: Receiver) =>
  received.map(({ headers }) => Number(String(headers["webhook-id"]).split("_").at(-1)));
/** How many deliveries were counted as given up. */
const givenUp = async () => {
  const text = await (await fetch(`http://127.0.0.1:${delivery.service.opsPort}/metrics`)).text();
  return Number(/^vidimus_deliveries_ended_total\{.*state="exhausted".*\} (\d+)/m.exec(text)?.[1] ?? 0);
};
const count = (tenantId: string, state: string) =>
  world.deliveries().countDocuments({ tenantId, state: state as "pending" });

describe("when an endpoint is disabled while a webhook is in flight,", () => {
  /** Answers the first webhook of a document, after the disabling. A second one waits. */
  async function disableInFlight(tenantId: string) {
    let answer: (() => void) | undefined;
    const receiver = await openReceiver((_webhook, response) => {
      const first = receiver.received.length === 1;
      if (first) answer = () => response.writeHead(204).end();
      else response.writeHead(204).end();
    });
    const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
    const { documentId } = await publish(world, tenantId);
    await receiver.arrivals(1);
    await publish(world, tenantId, documentId, 2);
    await eventually(() => count(tenantId, "pending")).toBe(2);
    await delivery.endpoints.disableEndpoint({ tenantId, endpointId }, asAdmin);
    answer?.();
    await eventually(() => world.deliveries().countDocuments({ tenantId, lease: { $exists: true } })).toBe(0);
    return { receiver, endpointId, [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose]() };
  }

  it("the webhook's answer is recorded", async () => {
    await using _disabled = await disableInFlight("recorded");
    await eventually(() => count("recorded", "delivered")).toBe(1);
  });

  it("the next webhook waits until the endpoint is enabled", async () => {
    const tenantId = "inflight";
    await using disabled = await disableInFlight(tenantId);
    const { receiver, endpointId } = disabled;
    expect(sequences(receiver)).toEqual([1]);
    await delivery.endpoints.enableEndpoint({ tenantId, endpointId }, asAdmin);
    await receiver.arrivals(2);
    await eventually(() => count(tenantId, "delivered")).toBe(2);
    expect(sequences(receiver)).toEqual([1, 2]);
  });

  it("the leases of over 200 lanes are released with fewer than 64 updates", async () => {
    const tenantId = "leases";
    const answers: (() => void)[] = [];
    let isQuick = true;
    await using receiver = await openReceiver((_webhook, response) => {
      if (isQuick) response.writeHead(204).end();
      else answers.push(() => response.writeHead(204).end());
    });
    const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
    for (let n = 0; n < 20; n += 1) await publish(world, tenantId);
    await eventually(() => count(tenantId, "delivered")).toBe(20);
    isQuick = false;
    await Promise.all(Array.from({ length: 300 }, () => publish(world, tenantId)));
    const leased = { tenantId, lease: { $exists: true } };
    await eventually(() => world.deliveries().countDocuments(leased)).toBeGreaterThan(200);
    await eventually(() => world.deliveries().countDocuments({ tenantId, state: "pending" })).toBe(300);
    await delivery.endpoints.disableEndpoint({ tenantId, endpointId }, asAdmin);
    const before = commands.length;
    // An attempt that was about to start sends its request after these answers.
    isQuick = true;
    for (const answer of answers) answer();
    await eventually(() => world.deliveries().countDocuments(leased)).toBe(0);
    const updates = commands.slice(before).filter((command) => command === "update deliveries");
    // One update for each attempt that was about to start, and a few for all deliveries that
    // waited.
    expect(updates.length).toBeLessThan(64);
  });
});

describe("what waits for a disabled endpoint", () => {
  it("is not given up when the endpoint is enabled after five days, although the first answer is 503", async () => {
    const tenantId = "days";
    await using receiver = await openReceiver((_webhook, response) =>
      response.writeHead(receiver.received.length === 1 ? 503 : 204).end(),
    );
    const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
    await delivery.endpoints.disableEndpoint({ tenantId, endpointId }, asAdmin);
    const { documentId } = await publish(world, tenantId);
    await publish(world, tenantId, documentId, 2);
    await publish(world, tenantId, randomUUID());
    await eventually(() => world.deliveries().countDocuments({ tenantId })).toBe(3);
    const at = new Date(Date.now() - 5 * dayMs);
    await world.deliveries().updateMany({ tenantId }, { $set: { createdAt: at } });
    await world.endpoints().updateOne({ _id: endpointId }, { $set: { "disabled.at": at } });
    await delivery.endpoints.enableEndpoint({ tenantId, endpointId }, asAdmin);
    await eventually(() => count(tenantId, "delivered")).toBe(3);
    expect(await count(tenantId, "exhausted")).toBe(0);
  });

  it("is given up unsent 30 days after the disabling, if it was announced as expiring a day before", async () => {
    const tenantId = "expired";
    await using receiver = await openReceiver();
    const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
    await delivery.endpoints.disableEndpoint({ tenantId, endpointId }, asAdmin);
    const { documentId } = await publish(world, tenantId);
    await publish(world, tenantId, documentId, 2);
    await publish(world, tenantId);
    await eventually(() => count(tenantId, "pending")).toBe(3);
    const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);
    const expired = { "disabled.at": daysAgo(30), "disabled.expiryToldAt": daysAgo(1) };
    await world.endpoints().updateOne({ _id: endpointId }, { $set: expired });
    await eventually(() => count(tenantId, "exhausted")).toBe(3);
    const rows = await world.deliveries().find({ tenantId }).toArray();
    for (const row of rows) expect(row.expiresAt!.getTime() - row.endedAt!.getTime()).toBe(30 * dayMs);
    await delivery.endpoints.enableEndpoint({ tenantId, endpointId }, asAdmin);
    await publish(world, tenantId, documentId, 3);
    await receiver.arrivals(1);
    expect(sequences(receiver)).toEqual([3]);
  });

  it("is announced as expiring, once and a day before it is given up, to a subscribed endpoint", async () => {
    const tenantId = "expiring";
    await using watching = await openReceiver();
    const events = { names: ["endpoint.expiring"] };
    await delivery.endpoints.createEndpoint({ tenantId, url: watching.url, events }, asAdmin);
    const { endpointId } = await delivery.endpoint(tenantId, "http://127.0.0.1:9/");
    await delivery.endpoints.disableEndpoint({ tenantId, endpointId }, asAdmin);
    await publish(world, tenantId);
    await eventually(() => count(tenantId, "pending")).toBe(1);
    const since = new Date(Date.now() - 29 * dayMs);
    await world.endpoints().updateOne({ _id: endpointId }, { $set: { "disabled.at": since } });
    await watching.arrivals(1);
    const notice = JSON.parse(watching.received[0]!.body.toString());
    const expiresAt = new Date(Date.parse(notice.timestamp) + dayMs).toISOString();
    expect(notice).toMatchObject({
      type: "endpoint.expiring",
      data: { tenantId, endpointId, reason: "operator", since: since.toISOString(), expiresAt },
    });
    expect(await count(tenantId, "exhausted")).toBe(0);
    const aDayEarlier = { "disabled.at": new Date(since.getTime() - dayMs), "disabled.expiryToldAt": since };
    await world.endpoints().updateOne({ _id: endpointId }, { $set: aDayEarlier });
    await eventually(() => count(tenantId, "exhausted")).toBe(1);
    expect(watching.received.map(typeOf)).toEqual(["endpoint.expiring"]);
  });

  it("is given up a day after it was announced as expiring, even if that came after 31 days", async () => {
    const tenantId = "late";
    await using watching = await openReceiver();
    const events = { names: ["endpoint.expiring"] };
    await delivery.endpoints.createEndpoint({ tenantId, url: watching.url, events }, asAdmin);
    const disabled = async () => {
      const { endpointId } = await delivery.endpoint(tenantId, "http://127.0.0.1:9/");
      await delivery.endpoints.disableEndpoint({ tenantId, endpointId }, asAdmin);
      return endpointId;
    };
    const [late, told] = [await disabled(), await disabled()];
    await publish(world, tenantId);
    await eventually(() => count(tenantId, "pending")).toBe(2);
    const since = new Date(Date.now() - 31 * dayMs);
    const aDayAgo = new Date(Date.now() - dayMs);
    const stateOf = async (endpointId: string) => (await world.deliveries().findOne({ endpointId }))?.state;
    await world.endpoints().updateOne({ _id: late }, { $set: { "disabled.at": since } });
    await watching.arrivals(1);
    // The search that gives up the other endpoint's delivery began after the notice.
    const toldInTime = { "disabled.at": since, "disabled.expiryToldAt": aDayAgo };
    await world.endpoints().updateOne({ _id: told }, { $set: toldInTime });
    await eventually(() => stateOf(told)).toBe("exhausted");
    expect(await stateOf(late)).toBe("pending");
    const { timestamp, data } = JSON.parse(watching.received[0]!.body.toString());
    expect(data).toMatchObject({ endpointId: late, since: since.toISOString() });
    expect(Date.parse(data.expiresAt)).toBe(Date.parse(timestamp) + dayMs);
    await world.endpoints().updateOne({ _id: late }, { $set: { "disabled.expiryToldAt": aDayAgo } });
    await eventually(() => stateOf(late)).toBe("exhausted");
    expect(watching.received).toHaveLength(1);
  });
});

describe("an endpoint that gets nothing but probes", () => {
  it("loses only deliveries over 72 hours old", async () => {
    const tenantId = "dead";
    // A delivery is counted just after its row says that it was given up.
    const before = await world.deliveries().countDocuments({ state: "exhausted" });
    await eventually(givenUp).toBe(before);
    let isUp = false;
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(isUp ? 204 : 503).end());
    const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
    const documents = Array.from({ length: 6 }, () => randomUUID());
    for (const documentId of documents) await publish(world, tenantId, documentId);
    await eventually(() => world.states().countDocuments({ _id: endpointId, "gate.open": { $exists: true } })).toBe(1);
    for (const sequence of [2, 3]) {
      for (const documentId of documents.slice(0, 2)) await publish(world, tenantId, documentId, sequence);
    }
    await eventually(() => count(tenantId, "pending")).toBe(10);
    const old = new Date(Date.now() - 3 * dayMs - 1_000);
    await world.deliveries().updateMany({ tenantId, sequence: { $lt: 3 } }, { $set: { createdAt: old } });
    await eventually(() => count(tenantId, "exhausted")).toBe(8);
    await eventually(givenUp).toBe(before + 8);
    expect(await count(tenantId, "pending")).toBe(2);
    const sent = receiver.received.length;
    isUp = true;
    await world.states().updateOne({ _id: endpointId }, { $set: { isProbeWanted: true } });
    await eventually(() => count(tenantId, "delivered")).toBe(2);
    expect(new Set(sequences(receiver).slice(sent))).toEqual(new Set([3]));
  });
});

describe("a row that someone other than delivery has written", () => {
  it.each<[string, string, object]>([
    ["the event and body of a snapshot as its notice", "planted_event", { event: "snapshot.usable" }],
    [
      "a webhook id that is not its notice's",
      "planted_id",
      { event: "endpoint.disabled", reason: "operator", at: new Date(), since: new Date(), host: "h" },
    ],
  ])("is not posted with %s", async (_, tenantId, facts) => {
    await using receiver = await openReceiver();
    const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
    const { documentId } = await publish(world, tenantId);
    await eventually(() => count(tenantId, "delivered")).toBe(1);
    const known = (await world.deliveries().findOne({ tenantId }))!;
    const { endedAt: _ended, expiresAt: _expires, ...row } = known;
    const body = JSON.stringify({ id: "snp_1", type: "snapshot.usable", data: { documentId } });
    const notice = { ...facts, body };
    const names = { _id: randomUUID(), documentId: randomUUID(), webhookId: "evt_0", endpointId };
    const due = { state: "pending" as const, nextAttemptAt: new Date(), attempts: [], attemptCount: 0 };
    await world.deliveries().insertOne({ ...row, ...names, ...due, notice: notice as never });
    await eventually(() =>
      world.deliveries().countDocuments({ tenantId, generation: { $gt: 2 }, state: "pending" }),
    ).toBe(1);
    expect(receiver.received).toHaveLength(1);
    // Otherwise its lane would be claimed again while the next test counts commands.
    await world.deliveries().deleteMany({ tenantId });
  });
});

describe("re-publications beside 40 endpoints that do not want them", () => {
  it("read deliveries fewer than 20 times for 8 documents", async () => {
    const tenantId = "unwanted";
    await using receiver = await openReceiver();
    await delivery.endpoint(tenantId, receiver.url);
    const events = { names: ["snapshot.withheld"] };
    for (let n = 0; n < 40; n += 1) {
      await delivery.endpoints.createEndpoint({ tenantId, url: receiver.url, events }, asAdmin);
    }
    const documents = Array.from({ length: 8 }, () => randomUUID());
    for (const documentId of documents) await publish(world, tenantId, documentId);
    await eventually(() => count(tenantId, "delivered")).toBe(8);
    const before = commands.length;
    for (const documentId of documents) await publish(world, tenantId, documentId, 2);
    await eventually(() => count(tenantId, "delivered")).toBe(16);
    const finds = commands.slice(before).filter((command) => command === "find deliveries");
    expect(finds.length).toBeLessThan(20);
  });
});
