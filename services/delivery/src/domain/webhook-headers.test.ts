import { describe, expect, it } from "vitest";
import { vector } from "./webhook-vector.ts";
import { webhookHeaders } from "./webhook-headers.ts";

const payload = {
  webhookId: vector.headers["webhook-id"],
  event: "snapshot.usable",
  keyId: vector.keyId,
  body: Buffer.from(vector.bodyBase64, "base64"),
};
const attempt = { payload, secret: vector.secret, deliveryId: "0190-d", attempt: 3, at: vector.at };

describe("the headers of an attempt", () => {
  it("are the vector's, with user agent, delivery id and number of the attempt", () => {
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

  it("have one signature of two parts, because some libraries fail on more", () => {
    expect(webhookHeaders(attempt)["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  });
});
