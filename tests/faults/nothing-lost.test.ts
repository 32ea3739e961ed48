import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, payloadOf, type Receiver } from "../support/receiver.ts";

let stack: ProcessConstellation;
let receiver: Receiver;
let newsroom: Newsroom;

beforeAll(async () => {
  stack = await openProcessConstellation();
  receiver = await openReceiver();
  newsroom = openNewsroom(stack.dev);
  await newsroom.endpoints.createEndpoint({ tenantId: newsroom.tenantId, url: receiver.url });
});

afterAll(async () => {
  newsroom?.[Symbol.dispose]();
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

/**
 * Stops a process before the publication and kills it afterwards, so that it dies between
 * publication and delivery.
 */
async function publishAcrossKillOf(name: string, beforeRestart = () => {}): Promise<string> {
  const documentId = await newsroom.push();
  const pid = (await stack.current()).pids[name]!;
  process.kill(pid, "SIGSTOP");
  await newsroom.transition(documentId, "publish");
  expect(receiver.received.some((webhook) => payloadOf(webhook).data.documentId === documentId)).toBe(false);
  process.kill(pid, "SIGKILL");
  beforeRestart();
  await untilRestarted(name, pid);
  return documentId;
}

async function untilRestarted(name: string, oldPid: number): Promise<void> {
  const pid = async () => (await stack.current()).pids[name] ?? oldPid;
  await vi.waitFor(async () => expect(await pid()).not.toBe(oldPid), { timeout: 10_000, interval: 20 });
}

describe("a webhook is delivered although, between publication and delivery,", () => {
  it.each(["delivery", "signing", "nats"])("kill -9 ended %s", async (name) => {
    const documentId = await publishAcrossKillOf(name);
    const { data } = payloadOf(await receiver.about(documentId));
    expect(data).toMatchObject({ status: "usable", version: 1, sequence: 1, tenantId: "demo" });
  });

  it("kill -9 ended the broker and its whole store was wiped", async () => {
    const store = join(stack.stateDir, "data", "nats");
    const documentId = await publishAcrossKillOf("nats", () => rmSync(store, { recursive: true, force: true }));
    expect(payloadOf(await receiver.about(documentId)).data.sequence).toBe(1);
  });

  it("kill -9 ended delivery while the receiver was handling the request", async () => {
    const documentId = await newsroom.push();
    const { pids } = await stack.current();
    receiver.answerWith((webhook) => {
      if (webhook.headers["vidimus-attempt"] === "1") process.kill(pids["delivery"]!, "SIGKILL");
      return 503;
    });
    await newsroom.transition(documentId, "publish");
    const first = await receiver.about(documentId);
    receiver.answerWith(() => 204);
    const copies = () => receiver.received.filter((webhook) => payloadOf(webhook).data.documentId === documentId);
    await vi.waitFor(() => expect(copies().length).toBeGreaterThan(1), { timeout: 45_000, interval: 50 });
    expect(copies().at(-1)!.body).toEqual(first.body);
    expect(copies().at(-1)!.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
  });
});

describe("the dev stack", () => {
  it.each(["gateway", "documents", "phrases", "signing", "delivery", "mongod", "nats"])(
    "starts %s again when it is killed, as its new pid in dev.json shows",
    async (name) => {
      const pid = (await stack.current()).pids[name]!;
      process.kill(pid, "SIGKILL");
      await untilRestarted(name, pid);
    },
  );
});
