import { describe, expect, it } from "vitest";
import { toLeasedLane, toNewSendable, wholeLane } from "../store/delivery-rows.ts";
import { EndpointLanes } from "./endpoint-lanes.ts";

const now = Date.now();
const names = { tenantId: "acme", endpointId: "e1" };

function rowOf(documentId: string, sequence: number) {
  const ids = { ...names, documentId, deliveryId: `${documentId}-${sequence}`, webhookId: `snp_${sequence}`, sequence };
  return toNewSendable({ ...ids, signingNumber: 1, createdAt: new Date(now), place: "behind" });
}

function laneOf(documentId: string, leaseMs = 20_000) {
  const row = rowOf(documentId, 1);
  const times = { leaseUntil: new Date(now + leaseMs), dueAt: new Date(now) };
  return toLeasedLane({ _id: row.deliveryId, generation: 1 }, wholeLane([row]), times);
}

function open() {
  const lanes = new EndpointLanes(names, () => 2_000);
  lanes.applyLimits({ maxInFlight: 4 });
  return lanes;
}

describe("a row that is stored behind a lane in hand", () => {
  it("joins the lane in memory until its attempt is decided, and the database is told afterwards", () => {
    const lanes = open();
    const lane = laneOf("a");
    lanes.push(lane);
    lanes.start(1, now);
    expect(lanes.arrive(rowOf("a", 2), now)).toBe(true);
    expect(lanes.arrive(rowOf("a", 3), now)).toBe(true);
    const decided = lanes.withArrivals(lane, new Date(now));
    expect(decided.state.rows.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(lanes.arrive(rowOf("a", 4), now)).toBe(false);
    lanes.letGo(lane);
    lanes.push(decided);
    expect(lanes.arrive(rowOf("a", 4), now)).toBe(true);
  });

  it("does not when the lane is another's, when it is not the next one, or when a part was not read", () => {
    const lanes = open();
    const paged = laneOf("b");
    lanes.push(laneOf("a"));
    lanes.push({ ...paged, state: { ...paged.state, isTailEnd: false } });
    expect(lanes.arrive(rowOf("c", 2), now)).toBe(false);
    expect(lanes.arrive(rowOf("a", 1), now)).toBe(false);
    expect(lanes.arrive(rowOf("a", 3), now)).toBe(false);
    expect(lanes.arrive(rowOf("b", 2), now)).toBe(false);
  });

  it("does not when the lease may be over by another process's clock, which may have read the lane before", () => {
    const lanes = open();
    lanes.push(laneOf("a", 1_999));
    lanes.push(laneOf("b", 2_000));
    expect(lanes.arrive(rowOf("a", 2), now)).toBe(false);
    expect(lanes.arrive(rowOf("b", 2), now)).toBe(true);
  });
});

it("lanes that would wait too long are given back when the endpoint becomes slower, the last ones first", () => {
  const lanes = open();
  lanes.noteAnswer(10, now);
  for (let n = 0; n < 400; n++) lanes.push(laneOf(`d${n}`));
  expect([lanes.capacity(now), lanes.takeSurplus(now)]).toEqual([0, []]);
  for (let n = 0; n < 100; n++) lanes.noteAnswer(1_000, now);
  const surplus = lanes.takeSurplus(now);
  expect([surplus.length, lanes.readyCount]).toEqual([392, 8]);
  expect(surplus[0]!.bearer.deliveryId).toBe("d8-1");
  expect(lanes.has({ ...names, documentId: "d8" })).toBe(false);
});
