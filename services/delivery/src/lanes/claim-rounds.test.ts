import { patient } from "@vidimus/kit/testing/patient";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { type GateState, newGate } from "../domain/endpoint-gate.ts";
import type { EndpointDue } from "../store/lane-schedule.ts";
import { Alarm } from "./alarm.ts";
import { AnswerTimes } from "./answer-times.ts";
import { BodyBudget } from "./body-budget.ts";
import { startClaiming } from "./claim-rounds.ts";
import { EndpointQueue } from "./endpoint-queue.ts";

const names = { tenantId: "acme", endpointId: "e1" };
const hourMs = 3_600_000;

function openSince(ms: number, nextProbeInMs: number): GateState {
  const now = Date.now();
  const open = { since: now - ms, nextProbeAt: now + nextProbeInMs, spacingMs: 5_000 };
  return { ...newGate, failures: 5, open };
}

/** Claims for these endpoints until it is disposed. Claims for the endpoint `failing` fail. */
function claiming(due: readonly EndpointDue[], { failing = "" } = {}) {
  const bodies = new BodyBudget(1e6);
  const shared = { aheadMs: 1_000, bodyBytes: () => 2_000, answerTimes: new AnswerTimes(), bodies };
  const queues = new Map(due.map((each) => [each.endpointId, new EndpointQueue(each, shared)]));
  const claims: string[] = [];
  let rounds = 0;
  const loop = startClaiming({
    lanes: {
      schedule: async () => {
        rounds += 1;
        return [...due];
      },
    },
    queues: { of: ({ endpointId }) => queues.get(endpointId)!, find: (endpointId) => queues.get(endpointId) },
    sender: {
      claim: async ({ endpointId }) => {
        claims.push(endpointId);
        if (endpointId === failing) throw new Error("MongoDB does not answer");
      },
    },
    alarm: new Alarm(),
    isPreferredFor: () => true,
    pollMs: 10,
    overdueMs: 5_000,
    log: pino({ level: "silent" }),
  });
  return { claims, queues, rounds: () => rounds, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
}

it("a lane is claimed before its backoff ends when a probe of its endpoint is due", async () => {
  await using claimer = claiming([{ ...names, nextAttemptAt: new Date(Date.now() + hourMs) }]);
  const { claims, queues, rounds } = claimer;
  await vi.waitFor(() => expect(rounds()).toBeGreaterThan(1), patient);
  expect(claims).toEqual([]);
  queues.get("e1")!.adopt(openSince(10_000, 20));
  await vi.waitFor(() => expect(claims.length).toBeGreaterThan(0), patient);
});

it("lanes of other endpoints are claimed even if the claim for one endpoint fails", async () => {
  const due = ["e1", "e2", "e3"].map((endpointId) => {
    return { tenantId: "acme", endpointId, nextAttemptAt: new Date() };
  });
  await using claimer = claiming(due, { failing: "e2" });
  await vi.waitFor(() => expect(new Set(claimer.claims)).toEqual(new Set(["e1", "e2", "e3"])), patient);
});
