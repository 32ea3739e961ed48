import { expect, it } from "vitest";
import { toLeasedLane, toNewSendable, wholeLane } from "../store/delivery-rows.ts";
import { AnswerTimes } from "./answer-times.ts";
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
  const lanes = new EndpointLanes(names, { aheadMs: 1_000, bodyBytes: () => 2_000, answerTimes: new AnswerTimes() });
  lanes.applyLimits({ maxInFlight: 4 });
  return lanes;
}

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

it("a lane that was claimed again takes its own place, and none beside its attempt", () => {
  const lanes = open();
  const [waiting, claimed] = [laneOf("a"), laneOf("a")];
  lanes.push(waiting);
  lanes.push(laneOf("b"));
  lanes.push(claimed);
  expect(lanes.readyCount).toBe(2);
  expect(lanes.start(1, now)).toEqual([claimed]);
  lanes.push(laneOf("a"));
  expect(lanes.readyCount).toBe(1);
  lanes.letGo(claimed);
  lanes.push(laneOf("a"));
  expect(lanes.readyCount).toBe(2);
});
