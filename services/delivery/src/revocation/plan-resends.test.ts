import { expect, test } from "vitest";
import { deliveryIdOf } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { type Snapshot, webhookIdOf } from "../domain/payload.ts";
import type { DeliveryFate } from "../store/resent-row-store.ts";
import { planResends } from "./plan-resends.ts";

const committedAt = new Date("2026-11-21T09:30:00.000Z");
const now = new Date("2026-11-22T09:30:00.000Z");
const snapshot: Snapshot = {
  tenantId: "acme",
  documentId: "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10",
  sequence: 4,
  documentType: "core/article",
  version: 7,
  status: "usable",
  committedAt,
  bytes: Buffer.from("{}"),
  sha256: Buffer.alloc(32),
};
const endpoint: Endpoint = {
  endpointId: "e1",
  tenantId: "acme",
  url: "https://receiver.example/",
  createdAt: new Date("2026-11-01T00:00:00.000Z"),
  secrets: [Buffer.alloc(32)],
  enabled: true,
  events: ["snapshot.usable", "snapshot.withheld"],
  headers: {},
  maxInFlight: 32,
};

/**
 * The id and fate of the delivery under signature `number`, which was last sent with signature
 * `sentAs`.
 */
function fate(number: number, state: DeliveryFate["state"], sentAs = number): [string, DeliveryFate] {
  return [deliveryIdOf(endpoint, webhookIdOf(snapshot, number)), { state, webhookId: webhookIdOf(snapshot, sentAs) }];
}

function plan(fates: readonly [string, DeliveryFate][], of: Partial<Endpoint> = {}, signingNumber = 2) {
  return planResends({ snapshot, signingNumber }, [{ ...endpoint, ...of }], new Map(fates), now);
}

test("an endpoint that has the old signature gets a new delivery, with a webhook id that ends in _r2", () => {
  const [delivery, ...more] = plan([fate(1, "delivered")]);
  expect(more).toEqual([]);
  expect(delivery).toMatchObject({ sequence: 4, signingNumber: 2, createdAt: now, standing: "due" });
  expect(delivery!.webhookId).toMatch(/^snp_[0-9a-f]{32}_4_r2$/);
  expect(delivery!.deliveryId).not.toBe(deliveryIdOf(endpoint, webhookIdOf(snapshot)));
});

test.each([
  ["is still to be delivered", [fate(1, "pending")]],
  ["was given up", [fate(1, "exhausted")]],
  ["was delivered late, with the new signature", [fate(1, "delivered", 2)]],
  ["was delivered with both signatures", [fate(1, "delivered"), fate(2, "delivered")]],
  ["is still to be delivered with the new signature", [fate(1, "delivered"), fate(2, "pending")]],
])("a snapshot that %s is not sent again", (_, fates) => {
  expect(plan(fates)).toEqual([]);
});

test("a snapshot without delivery rows is sent again, unless the endpoint is younger than the snapshot", () => {
  expect(plan([])).toHaveLength(1);
  expect(plan([], { createdAt: committedAt })).toHaveLength(1);
  expect(plan([], { createdAt: new Date(committedAt.getTime() + 1) })).toEqual([]);
});

test.each<[string, Partial<Endpoint>]>([
  ["of another tenant", { tenantId: "other" }],
  ["whose events exclude the snapshot", { events: ["snapshot.withheld"] }],
  ["whose document types exclude the snapshot", { documentTypes: ["core/image"] }],
])("an endpoint %s gets no new delivery", (_, change) => {
  expect(plan([fate(1, "delivered")], change)).toEqual([]);
});

test("a disabled endpoint that has the old signature gets a new delivery, too", () => {
  expect(plan([fate(1, "delivered")], { enabled: false })).toMatchObject([{ standing: "due" }]);
});

test("after a second revocation an endpoint that accepted webhook id _r2 gets webhook id _r3", () => {
  const [delivery] = plan([fate(1, "delivered"), fate(2, "delivered")], {}, 3);
  expect(delivery!.webhookId).toMatch(/_4_r3$/);
});

test("a pending delivery that already has webhook id _r3 is not followed by another with that id", () => {
  expect(plan([fate(1, "delivered"), fate(2, "pending", 3)], {}, 3)).toEqual([]);
});
