import { describe, expect, it } from "vitest";
import { type Endpoint, eventsByDefault } from "../domain/endpoint.ts";
import type { Snapshot } from "../domain/payload.ts";
import { countWanted, planDeliveries } from "./plan-deliveries.ts";

const now = new Date("2026-11-21T09:00:00.000Z");

const endpoint = (tenantId: string, endpointId: string, more: Partial<Endpoint> = {}): Endpoint => {
  const secrets = [new Uint8Array(32)] as const;
  const plain = { url: "https://example.com/", secrets, createdAt: now, enabled: true, headers: {} };
  return { tenantId, endpointId, ...plain, events: eventsByDefault, maxInFlight: 32, ...more };
};

const snapshot = (tenantId: string, documentId: string, sequence = 1, more: Partial<Snapshot> = {}): Snapshot => {
  const bytes = Buffer.from("{}");
  const rest = { documentType: "core/article", version: 1, status: "usable", committedAt: now, bytes, sha256: bytes };
  return { tenantId, documentId, sequence, ...rest, ...more };
};

function plan(snapshots: Snapshot[], endpoints: Endpoint[], capacity = 10, inHand: string[] = [], hasCapacity = true) {
  const isInHand = ({ documentId }: { documentId: string }) => inHand.includes(documentId);
  const limits = { capacityOf: () => capacity, takeBody: () => hasCapacity };
  const { deliveries, excluded } = planDeliveries({ snapshots, endpoints, isInHand, ...limits, now });
  return {
    deliveries: deliveries.map(
      ({ endpointId, documentId, sequence, standing }) => `${endpointId} ${documentId}${sequence} ${standing}`,
    ),
    excluded: excluded.map(({ endpointId, documentId, sequence }) => `${endpointId} ${documentId}${sequence}`),
  };
}

describe("planned deliveries", () => {
  it("go to each endpoint of the snapshot's tenant, and to no other tenant's", () => {
    const endpoints = [endpoint("acme", "e1"), endpoint("acme", "e2"), endpoint("rival", "e3")];
    expect(plan([snapshot("acme", "a")], endpoints).deliveries).toEqual(["e1 a1 leased", "e2 a1 leased"]);
  });

  it("wait behind an older delivery of their lane in the same batch", () => {
    const planned = plan([snapshot("acme", "a"), snapshot("acme", "a", 2)], [endpoint("acme", "e1")]);
    expect(planned.deliveries).toEqual(["e1 a1 leased", "e1 a2 behind"]);
  });

  it("wait behind the deliveries of a lane that this process has in hand", () => {
    const planned = plan([snapshot("acme", "b")], [endpoint("acme", "e1")], 10, ["b"]);
    expect(planned.deliveries).toEqual(["e1 b1 behind"]);
  });

  it("are left to a claim when their endpoint's capacity is used up", () => {
    const planned = plan([snapshot("acme", "a"), snapshot("acme", "b")], [endpoint("acme", "e1")], 1);
    expect(planned.deliveries).toEqual(["e1 a1 leased", "e1 b1 due"]);
  });

  it("are left to a claim when their bodies do not fit into memory", () => {
    expect(plan([snapshot("acme", "a")], [endpoint("acme", "e1")], 10, [], false).deliveries).toEqual(["e1 a1 due"]);
  });

  it("are counted for enabled endpoints only", () => {
    const endpoints = [endpoint("acme", "e1"), endpoint("acme", "e2", { enabled: false })];
    const counts = countWanted([snapshot("acme", "a"), snapshot("acme", "b")], endpoints);
    expect([...counts].map(([{ endpointId }, count]) => [endpointId, count])).toEqual([["e1", 2]]);
  });

  it("leave out endpoints whose filter excludes a document's second snapshot; the plan lists their lanes", () => {
    const filtering = [
      endpoint("acme", "e1", { events: ["snapshot.withheld"] }),
      endpoint("acme", "e2", { documentTypes: ["core/image"] }),
      endpoint("acme", "e3", { documentTypes: ["core/article"] }),
    ];
    expect(plan([snapshot("acme", "a", 2)], filtering)).toEqual({
      deliveries: ["e3 a2 leased"],
      excluded: ["e1 a2", "e2 a2"],
    });
  });
});
