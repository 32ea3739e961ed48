import { createHash, createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createPayload, earlierWebhookIds, webhookIdOf } from "./payload.ts";
import { vector } from "../../test/support/webhook-vector.ts";

const bytes = Buffer.from(vector.snapshotBase64, "base64");
const snapshot = { ...vector, bytes, sha256: Buffer.from(vector.sha256, "hex") };
const signature = { ...vector, value: Buffer.from(vector.signatureBase64, "base64"), signingNumber: 1 };

describe("a payload", () => {
  it("has the body of the test vector, byte for byte", () => {
    const { body } = createPayload(snapshot, signature);
    expect(Buffer.from(body).toString("base64")).toBe(vector.bodyBase64);
  });

  it("has the snapshot, byte for byte, as the value of its last field", () => {
    const body = Buffer.from(createPayload(snapshot, signature).body);
    const marker = Buffer.from(',"snapshot":');
    expect(body.subarray(body.indexOf(marker) + marker.length, -2).equals(bytes)).toBe(true);
  });

  it("contains the signed statement, which ends with the snapshot's SHA-256", () => {
    const body = Buffer.from(createPayload(snapshot, signature).body);
    const { statement, value } = JSON.parse(body.toString()).data.signature;
    const key = createPublicKey({ key: Buffer.from(vector.publicKeyBase64, "base64"), format: "der", type: "spki" });
    expect(verify(null, Buffer.from(statement), key, Buffer.from(value, "base64"))).toBe(true);
    expect(statement.split("\n").at(-1)).toBe(createHash("sha256").update(bytes).digest("hex"));
  });

  it("keeps the bytes of a snapshot that a JSON serialiser would write differently", () => {
    const odd = Buffer.from('{"a":1.0,"b":"\\u00fc"}');
    const body = Buffer.from(createPayload({ ...snapshot, bytes: odd }, signature).body).toString();
    expect(body.endsWith(',"snapshot":{"a":1.0,"b":"\\u00fc"}}}')).toBe(true);
  });
});

describe("a webhook id", () => {
  it("is that of the test vector", () => {
    expect(webhookIdOf(vector)).toBe(vector.headers["webhook-id"]);
  });

  it("has no dot", () => {
    expect(webhookIdOf(vector)).not.toContain(".");
  });

  it("differs between tenants, documents and sequences", () => {
    const ids = [
      vector,
      { ...vector, tenantId: "ten_acm" },
      { ...vector, documentId: vector.documentId.replace("7b", "7c") },
      { ...vector, sequence: 13 },
    ].map((reference) => webhookIdOf(reference));
    expect(new Set(ids).size).toBe(4);
  });

  it("ends with _r2 for a snapshot that was signed again after a revocation", () => {
    expect(webhookIdOf(vector, 2)).toBe(`${webhookIdOf(vector)}_r2`);
    expect(createPayload(snapshot, { ...signature, signingNumber: 2 }).webhookId).toBe(webhookIdOf(vector, 2));
  });

  it("tells the ids that the webhook had under earlier signatures", () => {
    expect(earlierWebhookIds(webhookIdOf(vector, 3))).toEqual([webhookIdOf(vector), webhookIdOf(vector, 2)]);
    const others = [webhookIdOf(vector), `${webhookIdOf(vector)}_r0`, webhookIdOf(vector, 100), "evt_1_r3"];
    expect(others.flatMap(earlierWebhookIds)).toEqual([]);
  });
});
