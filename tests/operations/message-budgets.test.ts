/** What a request or a publication costs, in RPCs between services and commands to MongoDB. */
import { type Constellation, openConstellation } from "@vidimus/devstack/testing/constellation";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { MessageCounter, SnapshotCosts } from "../support/message-counts.ts";
import { openNewsroom, type Newsroom } from "../support/newsroom.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";

let messages: MessageCounter;
let snapshotCosts: SnapshotCosts;
let receiver: Receiver;
let stack: Constellation;
let room: Newsroom;

beforeAll(async () => {
  messages = new MessageCounter();
  snapshotCosts = new SnapshotCosts();
  receiver = await openReceiver();
  stack = await openConstellation({ mongoUrl: inject("mongoUrl"), env: { IP_RATE_LIMIT: "off" } });
  room = openNewsroom(stack.dev);
});
afterAll(async () => {
  room?.[Symbol.dispose]();
  await stack?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
  messages[Symbol.dispose]();
  snapshotCosts[Symbol.dispose]();
});

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await room.request(path, { headers });
  await answer.arrayBuffer();
  return { status: answer.status, etag: answer.headers.get("etag") ?? "" };
}

async function published(): Promise<string> {
  const id = await room.push();
  await room.transition(id, "publish");
  return id;
}

test("a create on an idle gateway costs documents one RPC and one insert", async () => {
  // documents reads the types of a tenant again once a second at most, which then adds a command.
  await expect
    .poll(() => messages.during(stack, () => room.push()), { timeout: 20_000 })
    .toEqual({ rpcs: ["BatchCreateDocuments"], commands: ["insert heads"] });
});

test("a read of a document by id costs documents one RPC and one find", async () => {
  const id = await published();
  const cost = await messages.during(stack, () => get(`/v1/publisher/documents/${id}`));
  expect(cost).toEqual({ rpcs: ["BatchGetPublishedDocuments"], commands: ["find publications"] });
});

test("a read of a page with the documents that it links to costs one RPC and two finds", async () => {
  const tag = await room.push({ type: "core/tag", title: "Snow", meta: { slug: "snow-x" }, content: { name: "Snow" } });
  await room.transition(tag, "publish");
  const id = await room.push({ links: [{ rel: "subject", type: "core/tag", id: tag }] });
  await room.transition(id, "publish");
  const cost = await messages.during(stack, () => get("/v1/publisher/articles?include=links"));
  expect(cost).toEqual({ rpcs: ["ListPublishedDocuments"], commands: ["find publications", "find publications"] });
});

test("the first read of the newest page after a publication costs one RPC and one find", async () => {
  await published();
  const cost = await messages.during(stack, () => get("/v1/documents?type=core/article"));
  expect(cost).toEqual({ rpcs: ["ListPublishedDocuments"], commands: ["find publications"] });
});

test("the gateway keeps a page that was read twice, and revalidates it by one RPC and one find", async () => {
  const path = "/v1/documents?type=core/article&limit=3";
  const ids = async () => {
    const answer = await room.request(path, {});
    const { data } = (await answer.json()) as { data: { items: { id: string }[] } };
    return data.items.map(({ id }) => id);
  };
  const first = await published();
  await ids();
  await ids();
  const shown: string[][] = [];
  const cost = await messages.during(stack, async () => void shown.push(await ids()));
  expect(shown[0]?.[0]).toBe(first);
  expect(cost).toEqual({ rpcs: ["RevalidatePublishedPages"], commands: ["find clocks"] });
  const next = await published();
  expect(await ids()).toEqual([next, ...(shown[0] ?? [])].slice(0, 3));
});

test("an answer of 304 for a page that is still valid costs one RPC and one find", async () => {
  await published();
  const { etag } = await get("/v1/documents?type=core/article");
  const answers: number[] = [];
  const cost = await messages.during(stack, async () => {
    answers.push((await get("/v1/documents?type=core/article", { "if-none-match": etag })).status);
  });
  expect(answers).toEqual([304]);
  expect(cost).toEqual({ rpcs: ["RevalidatePublishedPages"], commands: ["find clocks"] });
});

test.each([0, 300])(
  "a publication to a receiver that answers after %i ms costs 13 commands and 3 snapshot RPCs",
  async (answerMs) => {
    const { tenantId } = room;
    const { endpoint } = await room.endpoints.createEndpoint({ tenantId, url: receiver.url });
    receiver.answerWith(() => new Promise((resolve) => setTimeout(resolve, answerMs, 204)));
    const publish = async () => {
      const id = await room.push();
      const cost = await snapshotCosts.ofPublication(stack, () => room.transition(id, "publish"));
      await receiver.about(id, { sequence: 1 });
      return cost;
    };
    // Now and then timers of the services add commands of their own.
    await expect.poll(publish, { timeout: 30_000 }).toEqual({
      rpcs: ["GetSnapshots", "SettleSnapshots", "SignSnapshots"],
      commands: [
        "commitTransaction documents",
        "find documents.heads",
        "find documents.snapshots",
        "find delivery.endpoints",
        "findAndModify documents.clocks",
        "insert delivery.deliveries",
        "insert documents.history",
        "insert documents.publications",
        "insert documents.snapshots",
        "insert signing.ledger",
        "update delivery.deliveries",
        "update documents.heads",
        "update documents.snapshots",
      ].toSorted(),
    });
    await room.endpoints.deleteEndpoint({ tenantId, endpointId: endpoint!.endpointId });
  },
);
