/** `npm start -- --replicas documents=3,gateway=2,delivery=3`: several processes of one service. */
import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { article, type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, payloadOf, type Receiver } from "../support/receiver.ts";

let stack: ProcessConstellation;
let receiver: Receiver;
let newsroom: Newsroom;

beforeAll(async () => {
  stack = await openProcessConstellation({}, { documents: 3, gateway: 2, delivery: 3 });
  receiver = await openReceiver();
  newsroom = openNewsroom(stack.dev);
  await newsroom.endpoints.createEndpoint({ tenantId: newsroom.tenantId, url: receiver.url });
});

afterAll(async () => {
  newsroom?.[Symbol.dispose]();
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

function gateways(): string[] {
  const { gateway, replicas = {} } = stack.dev;
  return [gateway, ...Object.values(replicas).flatMap((each) => each.gateway ?? [])];
}

/** Pushes one article through every gateway. Returns their ids. */
function pushEverywhere(): Promise<string[]> {
  return Promise.all(
    gateways().map(async (gateway) => {
      const draft = article();
      const headers = { authorization: `Bearer ${newsroom.apiKey}`, "content-type": "application/json" };
      const answer = await fetch(`${gateway}/v1/documents`, { method: "POST", headers, body: JSON.stringify(draft) });
      expect(answer.status).toBe(201);
      return draft.id;
    }),
  );
}

/** Batches of creates that each documents process has answered. */
function answeredCalls(): Promise<number[]> {
  const { ops, replicas = {} } = stack.dev;
  const others = Object.entries(replicas).filter(([name]) => name.startsWith("documents"));
  return Promise.all(
    [ops.documents, ...others.map(([, each]) => each.ops)].map(async (base) => {
      const metrics = await (await fetch(`${base}/metrics`)).text();
      const created = metrics.matchAll(/^vidimus_rpc_handled_seconds_count\{.*BatchCreateDocuments".*\} (\d+)$/gm);
      return Array.from(created, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
    }),
  );
}

test("dev.json names every process, each with a pid of its own", async () => {
  const { pids, replicas = {} } = await stack.current();
  const more = ["documents-2", "documents-3", "delivery-2", "delivery-3", "gateway-2"];
  expect(Object.keys(replicas).toSorted()).toEqual(more.toSorted());
  const first = ["documents", "phrases", "delivery", "gateway", "signing", "mongod", "nats"];
  expect(Object.keys(pids).toSorted()).toEqual([...first, ...more].toSorted());
  expect(new Set(Object.values(pids)).size).toBe(Object.keys(pids).length);
});

test("the creates at both gateways reach every documents process", async () => {
  await vi.waitFor(
    async () => {
      await pushEverywhere();
      expect(Math.min(...(await answeredCalls()))).toBeGreaterThan(0);
    },
    { timeout: 20_000, interval: 50 },
  );
});

async function publishEverywhere(): Promise<string[]> {
  const ids = await pushEverywhere();
  for (const id of ids) await newsroom.transition(id, "publish");
  for (const id of ids) await receiver.about(id);
  return ids;
}

/** Publishes a document through the first gateway, which is never killed. */
async function publishFirst(): Promise<void> {
  const id = await newsroom.push();
  await newsroom.transition(id, "publish");
  await receiver.about(id);
}

test("a snapshot is posted once, although three delivery processes run", async () => {
  const ids = [...(await publishEverywhere()), ...(await publishEverywhere()), ...(await publishEverywhere())];
  const posted = receiver.received.map((webhook) => payloadOf(webhook).data.documentId);
  expect(posted.toSorted()).toEqual(ids.toSorted());
});

test.each(["delivery-2", "documents-3", "gateway-2"])(
  "publications are delivered both right after kill -9 of %s and once it is back",
  async (name) => {
    const { pids, replicas = {} } = await stack.current();
    process.kill(pids[name] ?? Number.NaN, "SIGKILL");
    await publishFirst();
    await vi.waitFor(async () => expect((await fetch(`${replicas[name]?.ops}/readyz`)).status).toBe(200), 20_000);
    expect((await stack.current()).pids[name]).not.toBe(pids[name]);
    await publishEverywhere();
  },
);
