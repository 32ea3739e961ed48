import { randomUUID } from "node:crypto";
import { toJson } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { EndpointSchema } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "./support/eventually.ts";
import { openReceiver, type ReceivedWebhook } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, publish, type World } from "./support/world.ts";

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

/** Verifies as a receiver would, with no code of the sender. */
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
  it("is delivered with HMACs, a statement and a digest that a receiver can verify", async () => {
    await using receiver = await openReceiver();
    const { secret } = await delivery.endpoint("acme", receiver.url);
    const snapshot = await publish(world, "acme");
    const [webhook] = await receiver.arrivals(1);
    const { payload, ...verdicts } = await verify(webhook!, secret, world.signing.spki);
    expect(verdicts).toEqual({ standard: true, plain: true, statement: true });
    const bytes = webhook!.body.subarray(webhook!.body.indexOf('"snapshot":') + 11, -2);
    expect(bytes.toString()).toBe(snapshot.json);
    const digest = Buffer.from(await subtle.digest("SHA-256", new Uint8Array(bytes))).toString("hex");
    expect(payload.data.signature.statement.split("\n").at(-1)).toBe(digest);
    expect(payload.data.documentId).toBe(snapshot.documentId);
    await eventually(() => world.feed.isPending(snapshot)).toBe(false);
    expect(world.feed.signatureOf(snapshot)?.statement).toBe(payload.data.signature.statement);
    expect(receiver.received).toHaveLength(1);
  });

  it("is signed and settled when its tenant has no endpoint", async () => {
    const snapshot = await publish(world, "nobody");
    await eventually(() => world.feed.isPending(snapshot)).toBe(false);
    expect(world.feed.signatureOf(snapshot)).toBeDefined();
  });

  it("is delivered once, though its reference comes twice", async () => {
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

describe("a receiver that fails", () => {
  it("by redirecting is tried again at its own URL, not at that of the redirect", async () => {
    await using elsewhere = await openReceiver();
    await using receiver = await openReceiver((_webhook, response) => {
      if (receiver.received.length > 1) response.writeHead(204).end();
      else response.writeHead(307, { location: elsewhere.url }).end();
    });
    await delivery.endpoint("redirecting", receiver.url);
    await publish(world, "redirecting");
    await receiver.arrivals(2);
    expect(elsewhere.received).toEqual([]);
  });

  it("with a Retry-After is not tried again before that time", async () => {
    await using receiver = await openReceiver((_webhook, response) => {
      if (receiver.received.length > 1) response.writeHead(204).end();
      else response.writeHead(429, { "retry-after": "1" }).end();
    });
    await delivery.endpoint("throttling", receiver.url);
    await publish(world, "throttling");
    const [first, second] = await receiver.arrivals(2);
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(1_000);
  });

  it("by not answering is tried again after the deadline", async () => {
    await using receiver = await openReceiver((_webhook, response) => {
      if (receiver.received.length > 1) response.writeHead(204).end();
    });
    await delivery.endpoint("silent", receiver.url);
    await publish(world, "silent");
    const [first, second] = await receiver.arrivals(2);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    const row = await world.deliveries().findOne({ tenantId: "silent" });
    expect(row?.attempts[0]).toMatchObject({ failure: "timeout" });
  });
});

describe("an endpoint", () => {
  it("gets neither pending nor new deliveries once it is deleted, but for an attempt under way", async () => {
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(500).end());
    await using witness = await openReceiver();
    const { endpointId } = await delivery.endpoint("leaving", receiver.url);
    await publish(world, "leaving");
    await receiver.arrivals(1);
    await delivery.endpoints.deleteEndpoint({ tenantId: "leaving", endpointId }, asAdmin);
    const after = receiver.received.length;
    await delivery.endpoint("leaving", witness.url);
    await publish(world, "leaving");
    await witness.arrivals(1);
    const pending = world.deliveries().countDocuments({ tenantId: "leaving", endpointId, state: "pending" });
    expect(await pending).toBe(0);
    // One attempt may have been under way when the delete was asked for.
    expect(receiver.received.length).toBeLessThanOrEqual(after + 1);
    const { endpoints } = await delivery.endpoints.listEndpoints({ tenantId: "leaving" });
    expect(endpoints.map(({ url }) => url)).toEqual([witness.url]);
  });

  it("gets the snapshots of its own tenant only", async () => {
    await using ours = await openReceiver();
    await using theirs = await openReceiver();
    await delivery.endpoint("ours", ours.url);
    await delivery.endpoint("theirs", theirs.url);
    const documentId = randomUUID();
    await publish(world, "theirs", documentId);
    await theirs.arrivals(1);
    await publish(world, "ours", documentId);
    await ours.arrivals(1);
    expect(JSON.parse(String(ours.received[0]?.body)).data.tenantId).toBe("ours");
    expect(theirs.received).toHaveLength(1);
  });

  it("gets a secret of 32 bytes", async () => {
    const { secret } = await delivery.endpoint("secretive", "http://127.0.0.1:9/hook");
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  it("is read and listed without its secret", async () => {
    const tenantId = "discreet";
    const { endpointId, secret } = await delivery.endpoint(tenantId, "http://127.0.0.1:9/hook");
    const { endpoint } = await delivery.endpoints.getEndpoint({ tenantId, endpointId });
    const { endpoints } = await delivery.endpoints.listEndpoints({ tenantId });
    const shown = [endpoint!, ...endpoints].map((each) => JSON.stringify(toJson(EndpointSchema, each)));
    expect(shown).toHaveLength(2);
    for (const each of shown) expect(each).not.toContain(secret.slice("whsec_".length));
  });

  it.each([
    ["a URL that is not of HTTP", "acme", "ftp://example.com/"],
    ["a URL with an internal address", "acme", "http://10.0.0.1/"],
    ["a URL with a user name", "acme", "https://user@example.com/"],
    ["a malformed tenant id", "Not A Tenant", "https://example.com/"],
  ])("is refused with %s", async (_, tenantId, url) => {
    const creation = delivery.endpoints.createEndpoint({ tenantId, url }, asAdmin);
    await expect(creation).rejects.toMatchObject({ code: Code.InvalidArgument });
  });
});
