import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { noticeDelivery, noticePayload } from "./endpoint-notice.ts";
import type { Endpoint } from "./endpoint.ts";

test("the delivery of a notice with a long actor says how long its body is", () => {
  const endpoint = { tenantId: "acme", endpointId: randomUUID(), url: "https://hooks.example.com/" } as Endpoint;
  const at = new Date();
  const notice = { event: "endpoint.disabled", reason: "operator", at, since: at, by: "😀".repeat(256) } as const;
  const delivery = noticeDelivery(endpoint, notice, endpoint, at);
  expect(delivery.bodyBytes).toBe(noticePayload(delivery, delivery.notice!).body.length);
  expect(delivery.bodyBytes).toBeGreaterThan(1_024);
});
