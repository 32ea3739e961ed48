import { describe, expect, it } from "vitest";
import { laneKey, type LaneHead } from "../domain/delivery.ts";
import { eventsByDefault } from "../domain/endpoint.ts";
import { planDeliveries } from "./plan-deliveries.ts";

const now = new Date("2026-11-21T09:00:00.000Z");
const leaseUntil = new Date("2026-11-21T09:00:20.000Z");
const endpoint = (tenantId: string, endpointId: string) => {
  return {
    tenantId,
    endpointId,
    url: "https://example.com/",
    secrets: [new Uint8Array(32)] as const,
    createdAt: now,
    enabled: true,
    events: eventsByDefault,
    headers: {},
    maxInFlight: 32,
  };
};
const ref = (tenantId: string, documentId: string, sequence = 1) => ({ tenantId, documentId, sequence });

function plan(references: ReturnType<typeof ref>[], heads: [string, LaneHead][] = [], room = 100) {
  const endpoints = [endpoint("acme", "e1"), endpoint("acme", "e2"), endpoint("rival", "e3")];
  return planDeliveries({ references, endpoints, heads: new Map(heads), roomOf: () => room, now, leaseUntil });
}

describe("a delivery plan", () => {
  it("has one delivery, with a lease, for each snapshot and endpoint of its own tenant", () => {
    const owed = plan([ref("acme", "a"), ref("rival", "b")]);
    expect(owed.map(({ endpointId, documentId }) => `${endpointId} ${documentId}`)).toEqual(["e1 a", "e2 a", "e3 b"]);
    expect(owed.every((each) => each.leaseUntil === leaseUntil)).toBe(true);
    expect(new Set(owed.map(({ deliveryId }) => deliveryId)).size).toBe(3);
  });

  it("gives a lease to the first of a lane only", () => {
    const owed = plan([ref("rival", "b", 1), ref("rival", "b", 2)]);
    expect(owed.map((each) => each.leaseUntil)).toEqual([leaseUntil, undefined]);
    expect(owed[1]?.nextAttemptAt).toEqual(leaseUntil);
  });

  it("gives no lease behind an older pending delivery, and makes the new one due with it", () => {
    const nextAttemptAt = new Date("2026-11-21T10:00:00.000Z");
    const key = laneKey({ tenantId: "rival", endpointId: "e3", documentId: "b" });
    const [owed] = plan([ref("rival", "b", 2)], [[key, { sequence: 1, nextAttemptAt }]]);
    expect(owed).not.toHaveProperty("leaseUntil");
    expect(owed?.nextAttemptAt).toEqual(nextAttemptAt);
  });

  it("gives no more leases than there is room for; the rest is due at once for any process", () => {
    const owed = plan([ref("rival", "a"), ref("rival", "b"), ref("rival", "c")], [], 2);
    expect(owed.map((each) => each.leaseUntil)).toEqual([leaseUntil, leaseUntil, undefined]);
    expect(owed[2]?.nextAttemptAt).toEqual(now);
  });
});
