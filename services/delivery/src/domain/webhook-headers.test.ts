import { describe, expect, it } from "vitest";
import { vector } from "../../test/support/webhook-vector.ts";
import { webhookHeaders } from "./webhook-headers.ts";

const payload = {
  webhookId: vector.headers["webhook-id"],
  event: "snapshot.usable",
  keyId: vector.keyId,
  body: Buffer.from(vector.bodyBase64, "base64"),
};
const endpoint = { secrets: [vector.secret] as const, headers: {} };
const attempt = { payload, endpoint, deliveryId: "0190-d", attempt: 3, at: vector.at };
const older = Buffer.alloc(32, 9);
const rotating = { ...attempt, endpoint: { secrets: [vector.secret, older] as const, headers: {} } };

describe("the headers of an attempt", () => {
  it("are the test vector's, content type, user agent, event, key id, delivery id and attempt number", () => {
    expect(webhookHeaders(attempt)).toEqual({
      ...vector.headers,
      "content-type": "application/json",
      "user-agent": "Vidimus-Delivery/1",
      "vidimus-event": "snapshot.usable",
      "vidimus-key-id": vector.keyId,
      "vidimus-delivery-id": "0190-d",
      "vidimus-attempt": "3",
    });
  });

  it("have a new signature for a later attempt, and the same id, digest and HMAC of the body", () => {
    const first = webhookHeaders(attempt);
    const later = webhookHeaders({ ...attempt, attempt: 4, at: new Date(vector.at.getTime() + 60_000) });
    const changed = Object.keys(first).filter((name) => first[name] !== later[name]);
    expect(changed.sort()).toEqual(["vidimus-attempt", "webhook-signature", "webhook-timestamp"]);
  });

  it("list in webhook-signature one `v1,<HMAC>` for each secret, separated by a space", () => {
    expect(webhookHeaders(attempt)["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    expect(webhookHeaders(rotating)["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  });

  it("contain an HMAC with each secret while a secret rotates, the newer secret's first", () => {
    const before = webhookHeaders({ ...attempt, endpoint: { secrets: [older], headers: {} } });
    const after = webhookHeaders(attempt);
    const signed = webhookHeaders(rotating);
    expect(signed["webhook-signature"]).toBe(`${after["webhook-signature"]} ${before["webhook-signature"]}`);
    expect(signed["x-vidimus-signature-256"]).toBe(after["x-vidimus-signature-256"]);
    expect(signed["x-vidimus-signature-256-previous"]).toBe(before["x-vidimus-signature-256"]);
    expect(after).not.toHaveProperty("x-vidimus-signature-256-previous");
  });

  it("include the endpoint's own headers, which replace none of the platform's", () => {
    const forged = Object.fromEntries(Object.keys(webhookHeaders(attempt)).map((name) => [name, "forged"]));
    const headers = { ...forged, authorization: "Basic eA==" };
    const sent = webhookHeaders({ ...attempt, endpoint: { ...endpoint, headers } });
    expect(sent).toEqual({ ...webhookHeaders(attempt), authorization: "Basic eA==" });
  });

  it("name the replay that makes the attempt", () => {
    expect(webhookHeaders({ ...attempt, replayId: "r1" })).toEqual({
      ...webhookHeaders(attempt),
      "vidimus-replay-id": "r1",
    });
  });

  it("name no key when the payload has none, such as a ping's", () => {
    const { keyId: _, ...ping } = payload;
    expect(webhookHeaders({ ...attempt, payload: ping })).not.toHaveProperty("vidimus-key-id");
  });
});
