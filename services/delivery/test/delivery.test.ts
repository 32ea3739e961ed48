import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openReceiver, type ReceivedWebhook } from "./support/receiver.ts";
import { openDelivery, openWorld, publish, type World } from "./support/world.ts";

let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;

beforeAll(async () => {
  world = await openWorld();
  delivery = await openDelivery(world);
});
afterAll(async () => {
  await delivery[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const { subtle } = globalThis.crypto;

/** Verifies as a receiver would, with nothing of the sender's. */
async function verify({ headers, body }: ReceivedWebhook, secret: string, spki: Uint8Array<ArrayBuffer>) {
  const header = (name: string) => String(headers[name]);
  const raw = Buffer.from(secret.slice("whsec_".length), "base64");
  const mac = await subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const signed = Buffer.concat([Buffer.from(`${header("webhook-id")}.${header("webhook-timestamp")}.`), body]);
  const standard = Buffer.from(header("webhook-signature").slice("v1,".length), "base64");
  const plain = Buffer.from(header("x-vidimus-signature-256").slice("sha256=".length), "hex");
  const payload = JSON.parse(body.toString());
  const key = await subtle.importKey("spki", spki, { name: "Ed25519" }, false, ["verify"]);
  const { statement, value } = payload.data.signature;
  return {
    standard: await subtle.verify("HMAC", mac, standard, signed),
    plain: await subtle.verify("HMAC", mac, plain, new Uint8Array(body)),
    statement: await subtle.verify("Ed25519", key, Buffer.from(value, "base64"), Buffer.from(statement)),
    payload,
  };
}

describe("a published snapshot", () => {
  it("arrives once, and its HMACs, its statement and its digest verify", async () => {
    await using receiver = await openReceiver();
    const { secret } = await delivery.endpoint("acme", receiver.url);
    const snapshot = await publish(world, "acme");
    const [webhook] = await receiver.arrivals(1);
    const { payload, ...verdicts } = await verify(webhook!, secret, world.notary.spki);
    expect(verdicts).toEqual({ standard: true, plain: true, statement: true });
    const bytes = webhook!.body.subarray(webhook!.body.indexOf('"snapshot":') + 11, -2);
    expect(bytes.toString()).toBe(snapshot.json);
    const digest = Buffer.from(await subtle.digest("SHA-256", new Uint8Array(bytes))).toString("hex");
    expect(payload.data.signature.statement.split("\n").at(-1)).toBe(digest);
    expect(payload.data.documentId).toBe(snapshot.documentId);
    await expect.poll(() => world.feed.isPending(snapshot)).toBe(false);
    expect(world.feed.signatureOf(snapshot)?.statement).toBe(payload.data.signature.statement);
    expect(receiver.received).toHaveLength(1);
  });

  it("is signed and acknowledged when its tenant has no endpoint", async () => {
    const snapshot = await publish(world, "nobody");
    await expect.poll(() => world.feed.isPending(snapshot)).toBe(false);
    expect(world.feed.signatureOf(snapshot)).toBeDefined();
  });

  it("goes to one receiver once, though its reference comes twice", async () => {
    await using receiver = await openReceiver();
    await delivery.endpoint("twice", receiver.url);
    const documentId = randomUUID();
    const snapshot = await publish(world, "twice", documentId);
    await world.broker.announce(snapshot);
    await publish(world, "twice", documentId, 2);
    const webhooks = await receiver.arrivals(2);
    expect(webhooks.map(({ headers }) => String(headers["webhook-id"]).split("_").at(-1))).toEqual(["1", "2"]);
  });
});
