import { patient } from "@vidimus/kit/testing/patient";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { type GateState, newGate, probeAt } from "../domain/endpoint-gate.ts";
import { type LeasedLane, toLeasedLane, toNewSendable, wholeLane } from "../store/delivery-rows.ts";
import type { ClaimScope, EndpointDue } from "../store/lane-store.ts";
import { Alarm } from "./alarm.ts";
import { AnswerTimes } from "./answer-times.ts";
import { type ClaimDeps, startClaiming } from "./claim-lanes.ts";
import { EndpointLanes } from "./endpoint-lanes.ts";

const names = { tenantId: "acme", endpointId: "e1" };
const hourMs = 3_600_000;

function laneOf(endpointId: string): LeasedLane {
  const ids = { ...names, endpointId, documentId: "d", deliveryId: `${endpointId}-d`, webhookId: "snp", sequence: 1 };
  const row = toNewSendable({ ...ids, signingNumber: 1, createdAt: new Date(), place: "leased" });
  const times = { leaseUntil: new Date(Date.now() + 20_000), dueAt: new Date() };
  return toLeasedLane({ _id: row.deliveryId, generation: 1 }, wholeLane([row]), times);
}

function openSince(ms: number, nextProbeInMs: number): GateState {
  const now = Date.now();
  const open = { since: now - ms, nextProbeAt: now + nextProbeInMs, spacingMs: 5_000, probes: 1, probing: false };
  return { ...newGate, failures: 5, open };
}

/** Claims for these endpoints until it is disposed. Claims of `failing` ones fail. */
function claiming(due: readonly EndpointDue[], { failing = "" } = {}) {
  const waiting = { aheadMs: 1_000, bodyBytes: () => 2_000, answerTimes: new AnswerTimes() };
  const endpoints = new Map(due.map((each) => [each.endpointId, new EndpointLanes(each, waiting)]));
  const lanesOf: ClaimDeps["sender"]["lanesOf"] = ({ endpointId }) => endpoints.get(endpointId)!;
  const claims: ClaimScope[] = [];
  let rounds = 0;
  const sender = {
    alarm: new Alarm(),
    onCapacity: () => {},
    lanesOf,
    capacity: (lanes: EndpointLanes) => lanes.capacity(Date.now()),
    probeAt: (endpointId: string) => probeAt(endpoints.get(endpointId)!.gate),
    take: vi.fn<ClaimDeps["sender"]["take"]>(),
    pump: vi.fn<ClaimDeps["sender"]["pump"]>(),
    adopt: () => {},
  };
  const loop = startClaiming({
    lanes: {
      schedule: async () => {
        rounds += 1;
        return [...due];
      },
      claim: async (scope) => {
        claims.push(scope);
        if (scope.endpointId === failing) throw new Error("MongoDB does not answer");
        return [laneOf(scope.endpointId)];
      },
    },
    states: { list: async () => [] },
    sender,
    isPreferredFor: () => true,
    leaseMs: 20_000,
    pollMs: 10,
    overdueMs: 5_000,
    log: pino({ level: "silent" }),
  });
  return { claims, sender, lanesOf, rounds: () => rounds, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
}

it("takes a lane out of its backoff for a probe that is due", async () => {
  await using claimer = claiming([{ ...names, nextAttemptAt: new Date(Date.now() + hourMs) }]);
  const { claims, lanesOf, rounds } = claimer;
  await vi.waitFor(() => expect(rounds()).toBeGreaterThan(1), patient);
  expect(claims).toEqual([]);
  lanesOf(names).gate = openSince(10_000, 20);
  await vi.waitFor(() => expect(claims.length).toBeGreaterThan(0), patient);
  expect(claims[0]).toEqual({ endpointId: "e1", limit: 1 });
});

it("has a lane sent that is leased already when a probe is due, and claims none beside it", async () => {
  await using claimer = claiming([{ ...names, nextAttemptAt: new Date() }]);
  const { claims, lanesOf, sender } = claimer;
  const lanes = lanesOf(names);
  lanes.gate = openSince(10_000, -1);
  lanes.push(laneOf("e1"));
  await vi.waitFor(() => expect(sender.pump).toHaveBeenCalledWith(lanes), patient);
  expect(claims).toEqual([]);
});

it("a claim that fails keeps no lanes of other endpoints waiting: what was claimed for them is sent", async () => {
  const due = ["e1", "e2", "e3"].map((endpointId) => {
    return { tenantId: "acme", endpointId, nextAttemptAt: new Date() };
  });
  await using claimer = claiming(due, { failing: "e2" });
  const taken = () => claimer.sender.take.mock.calls.flatMap(([lanes]) => lanes.map(({ bearer }) => bearer.deliveryId));
  await vi.waitFor(() => expect(new Set(taken())).toEqual(new Set(["e1-d", "e3-d"])), patient);
  expect(claimer.claims.some(({ endpointId }) => endpointId === "e2")).toBe(true);
  expect(claimer.lanesOf({ ...names, endpointId: "e2" })).toMatchObject({ isClaiming: false, reserved: 0 });
});
