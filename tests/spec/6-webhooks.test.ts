/**
 * Section 6: signed snapshots, delivered and verified. 3-states tests which transitions send them.
 */
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { trustListAt, verifyDelivery } from "../../packages/verify/src/verify.ts";
import { type Page, success } from "../support/answers.ts";
import { article, type Newsroom } from "../support/newsroom.ts";
import { openReceiver, payloadOf, type Receiver, type Webhook } from "../support/receiver.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";
import { canonical, checkNames, failedChecks, snapshotBytes, type TrustedKey } from "../support/webhook-checks.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

let stack: SharedConstellation;
let tenants: Tenants;
let room: Newsroom;
let receiver: Receiver;
let secret: string;
let keys: TrustedKey[];

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
  room = await tenants.create();
  receiver = await openReceiver();
  ({ secret } = await room.endpoints.createEndpoint({ tenantId: room.tenantId, url: receiver.url }));
  ({ keys } = (await (await fetch(`${stack.dev.gateway}/api/keys`)).json()) as { keys: TrustedKey[] });
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
  await receiver?.[Symbol.asyncDispose]();
});

async function published(overrides: object = {}): Promise<Webhook> {
  const id = await room.push(overrides);
  await room.transition(id, "publish");
  return receiver.about(id, { sequence: 1 });
}

const changed = (webhook: Webhook, find: string, replacement: string): Webhook => {
  expect(webhook.body.includes(find)).toBe(true);
  return { ...webhook, body: Buffer.from(webhook.body.toString().replace(find, replacement)) };
};

describe("6: a delivery can be verified", () => {
  test("rules 1 and 2: the Ed25519 signature by a trusted key, both HMAC headers and the digest hold", async () => {
    expect(await failedChecks(await published(), secret, keys)).toEqual([]);
  });

  test("@vidimus/verify and the library of Standard Webhooks accept a delivery, and refuse a changed one", async () => {
    const { headers, body } = await published({ title: 'A "quoted" ,"snapshot":{} title' });
    const list = trustListAt(`${stack.dev.gateway}/api/keys`);
    const delivery = await verifyDelivery({ headers, body }, { secret, keys: list });
    const { data } = payloadOf({ body });
    const { tenantId, documentId, sequence, version, status, snapshot } = data;
    const envelope = { tenantId, documentId, sequence, version, status, documentType: snapshot["type"], snapshot };
    expect(delivery).toMatchObject({ kind: "snapshot", type: "snapshot.usable", ...envelope });
    const sent = headers as Record<string, string>;
    expect(new StandardWebhook(secret).verify(body, sent)).toEqual(JSON.parse(body.toString()));
    const forged = changed({ headers, body }, "quoted", "Quoted");
    expect(() => new StandardWebhook(secret).verify(forged.body, sent)).toThrow("No matching signature found");
    await expect(verifyDelivery(forged, { secret, keys: list })).rejects.toMatchObject({ fault: "body" });
  });

  test("the delivery of a withheld document can be verified", async () => {
    const id = await room.push();
    await room.transition(id, "publish");
    await room.transition(id, "withhold");
    const webhook = await receiver.about(id, { sequence: 2 });
    expect(payloadOf(webhook).type).toBe("snapshot.withheld");
    expect(await failedChecks(webhook, secret, keys)).toEqual([]);
  });

  test("the delivery of a document with unusual JSON can be verified", async () => {
    const content = { snapshot: ',"snapshot":{}}}', n: [1e21, -0, 0.1], "\u2028": "</script>😀", é: "e\u0301" };
    const meta = { slug: "odd", language: "de", '"': "\\", nested: { b: 1, a: [{}] } };
    const blocks = [{ type: "b" }];
    const webhook = await published({ title: 'A "quoted" \u0007 title', content: { ...content, blocks }, meta });
    expect(await failedChecks(webhook, secret, keys)).toEqual([]);
    const { snapshot } = payloadOf(webhook).data;
    expect(snapshot["content"]).toEqual({ ...content, n: [1e21, 0, 0.1], blocks });
    expect(snapshot.meta).toEqual({ ...meta, status: "usable", version: 1 });
  });

  test("a change of body, header, secret or key fails exactly the checks that cover it", async () => {
    const webhook = await published({ title: "Ferry cancelled" });
    const refusedBy = (other: Webhook, otherSecret = secret, otherKeys: readonly TrustedKey[] = keys) =>
      failedChecks(other, otherSecret, otherKeys);
    const headers = { ...webhook.headers, "webhook-timestamp": "1" };
    const wrong = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const others = keys.map((key) => ({ ...key, publicKey: keys.find(({ keyId }) => keyId !== key.keyId)!.publicKey }));

    expect(await refusedBy(changed(webhook, "Ferry cancelled", "Ferry Cancelled"))).toEqual(
      checkNames.filter((name) => name !== "ed25519"),
    );
    expect(await refusedBy(changed(webhook, "vidimus-snapshot-v1", "vidimus-snapshot-v2"))).toEqual(
      checkNames.filter((name) => name !== "snapshot"),
    );
    expect(await refusedBy({ ...webhook, headers })).toEqual(["standard-webhooks"]);
    expect(await refusedBy(webhook, wrong)).toEqual(["hmac", "standard-webhooks"]);
    expect(await refusedBy(webhook, secret, others)).toEqual(["ed25519"]);
    expect(await refusedBy(webhook, secret, [])).toEqual(["ed25519"]);
  });
});

describe("6: what a delivery carries", () => {
  test("the full snapshot inline, as readers see the document, and its links", async () => {
    const draft = article();
    const webhook = await published(draft);
    const page = await success<Page>(room.request("/v1/documents?type=core/article&limit=200"), 200);
    const item = page.items.find(({ id }) => id === draft.id);
    expect(payloadOf(webhook).data.snapshot).toEqual({ ...item, links: draft["links"] });
  });

  test("the snapshot as canonical JSON, so a receiver can rebuild its bytes from the parsed value", async () => {
    const bytes = snapshotBytes((await published()).body);
    const text = new TextDecoder().decode(bytes);
    expect(canonical(JSON.parse(text))).toBe(text);
  });

  test("a body with its members in a fixed order, snapshot last, as JSON without whitespace", async () => {
    const { body } = await published();
    const payload = payloadOf({ body });
    expect(Object.keys(payload)).toEqual(["id", "type", "timestamp", "data"]);
    const members = "tenantId documentId documentType version status sequence signature snapshot";
    expect(Object.keys(payload.data).join(" ")).toBe(members);
    expect(Object.keys(payload.data.signature)).toEqual(["keyId", "algorithm", "statement", "value"]);
    expect(body.toString()).toBe(JSON.stringify(payload));
  });

  test("a statement of format, tenant, document, sequence, version, status, time, key and digest", async () => {
    const before = Date.now();
    const { data } = payloadOf(await published());
    const lines = data.signature.statement.split("\n");
    expect(lines).toEqual([
      "vidimus-snapshot-v1",
      room.tenantId,
      data.documentId,
      "1",
      "1",
      "usable",
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data.signature.keyId,
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
    expect(Date.parse(lines[6]!)).toBeGreaterThanOrEqual(before - 1_000);
    expect(Date.parse(lines[6]!)).toBeLessThanOrEqual(Date.now());
  });

  test("headers that name the event, the key, the delivery and the attempt", async () => {
    const webhook = await published();
    const { id, data } = payloadOf(webhook);
    expect(webhook.headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": id,
      "vidimus-event": "snapshot.usable",
      "vidimus-key-id": data.signature.keyId,
      "vidimus-attempt": "1",
    });
    expect(webhook.headers["vidimus-delivery-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(webhook.headers["webhook-id"]).not.toContain(".");
    expect(Math.abs(Number(webhook.headers["webhook-timestamp"]) * 1000 - Date.now())).toBeLessThan(60_000);
  });

  test("neither the endpoint's secret nor an Authorization in its headers", async () => {
    const webhook = await published();
    expect(JSON.stringify(webhook.headers)).not.toContain(secret.replace("whsec_", ""));
    expect(webhook.headers).not.toHaveProperty("authorization");
  });

  test("in its signature, the id of the key that is active in the trust list", async () => {
    const { active } = (await (await fetch(`${stack.dev.gateway}/api/keys`)).json()) as { active: string };
    expect(payloadOf(await published()).data.signature.keyId).toBe(active);
  });

  test("its document's next sequence, also in webhook-id and statement, without a gap", async () => {
    const id = await room.push();
    const rounds = ["publish", "withhold", "publish", "withhold"];
    for (const [index, name] of rounds.entries()) {
      await room.transition(id, name);
      const { id: webhookId, data } = payloadOf(await receiver.about(id, { sequence: index + 1 }));
      expect(webhookId).toMatch(new RegExp(`^snp_[0-9a-f]{32}_${index + 1}$`));
      expect(data.signature.statement.split("\n")[3]).toBe(String(index + 1));
    }
    const sequences = receiver.received
      .map((webhook) => payloadOf(webhook).data)
      .filter(({ documentId }) => documentId === id)
      .map(({ sequence }) => sequence);
    expect(sequences).toEqual([1, 2, 3, 4]);
  });
});

describe("6: the endpoints that get a delivery", () => {
  test("two endpoints of a tenant get the same body, each signed with its own secret", async () => {
    await using second = await openReceiver();
    const { secret: secondSecret } = await room.endpoints.createEndpoint({ tenantId: room.tenantId, url: second.url });
    const mine = await published();
    const copy = await second.about(payloadOf(mine).data.documentId);
    expect(copy.body).toEqual(mine.body);
    expect(secondSecret).not.toBe(secret);
    expect(await failedChecks(mine, secret, keys)).toEqual([]);
    expect(await failedChecks(copy, secondSecret, keys)).toEqual([]);
    expect(await failedChecks(copy, secret, keys)).toEqual(["hmac", "standard-webhooks"]);
  });

  test("an endpoint gets its own tenant's deliveries only", async () => {
    const rival = await tenants.create();
    await using foreign = await openReceiver();
    await rival.endpoints.createEndpoint({ tenantId: rival.tenantId, url: foreign.url });
    await published();
    const theirs = await rival.push();
    await rival.transition(theirs, "publish");
    await foreign.about(theirs);
    expect(foreign.received.map((webhook) => payloadOf(webhook).data.tenantId)).toEqual([rival.tenantId]);
    expect(receiver.received.map((webhook) => payloadOf(webhook).data.documentId)).not.toContain(theirs);
  });

  test("a refused delivery is repeated with the same ids and body before its document's next delivery", async () => {
    let refusals = 0;
    receiver.answerWith(() => ((refusals += 1) === 1 ? 503 : 204));
    const first = await published();
    const { documentId } = payloadOf(first).data;
    await room.transition(documentId, "withhold");
    await receiver.about(documentId, { sequence: 2 });
    const about = receiver.received.filter((webhook) => payloadOf(webhook).data.documentId === documentId);
    const told = about.map((webhook) => [payloadOf(webhook).data.sequence, webhook.headers["vidimus-attempt"]]);
    expect(told).toEqual([
      [1, "1"],
      [1, "2"],
      [2, "1"],
    ]);
    expect(about[1]!.body).toEqual(first.body);
    for (const name of ["webhook-id", "vidimus-delivery-id"]) {
      expect(about[1]!.headers[name]).toBe(first.headers[name]);
    }
    expect(await failedChecks(about[1]!, secret, keys)).toEqual([]);
  });
});
