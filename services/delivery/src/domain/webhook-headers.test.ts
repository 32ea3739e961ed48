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
  it("are the vector's, and say who is calling, for which delivery and for which time", () => {
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

  it("are signed anew for a later attempt, while id, digest and the body's own HMAC stay", () => {
    const first = webhookHeaders(attempt);
    const later = webhookHeaders({ ...attempt, attempt: 4, at: new Date(vector.at.getTime() + 60_000) });
    const changed = Object.keys(first).filter((name) => first[name] !== later[name]);
    expect(changed.sort()).toEqual(["vidimus-attempt", "webhook-signature", "webhook-timestamp"]);
  });

  it("carry one signature of two parts, which is all that every library can read", () => {
    expect(webhookHeaders(attempt)["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  });
});
