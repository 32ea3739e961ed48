import pino from "pino";
import { expect, test } from "vitest";
import { newGate } from "../domain/endpoint-gate.ts";
import type { EndpointStateStore } from "../store/endpoint-state-store.ts";
import { AnswerTimes } from "./answer-times.ts";
import { BodyBudget } from "./body-budget.ts";
import { EndpointQueues } from "./endpoint-queues.ts";
import { StoredGates } from "./stored-gates.ts";

const names = { tenantId: "acme", endpointId: "e1" };
const since = Date.now() - 60_000;
const gate = { ...newGate, failures: 5, open: { since, nextProbeAt: since, spacingMs: 5_000 } };

function open() {
  const deleted: string[] = [];
  const states: Pick<EndpointStateStore, "list" | "findMany" | "put" | "delete"> = {
    list: async () => [{ ...names, gate, generation: "stored" }],
    findMany: async () => [{ ...names, gate, generation: "stored" }],
    put: async () => "written",
    delete: async (_endpointId, generation) => deleted.push(generation) > 0,
  };
  const shared = {
    aheadMs: 1_000,
    bodyBytes: () => 2_000,
    answerTimes: new AnswerTimes(),
    bodies: new BodyBudget(64 * 1024 * 1024),
  };
  const gates = new StoredGates({ states, announceClosed: async () => {}, log: pino({ level: "silent" }) });
  const queues = new EndpointQueues({ shared, states, gates, isPreferredFor: () => false });
  return { queues, gates, deleted };
}

test("dropping a queue again does not drop the next queue of its endpoint", () => {
  const { queues } = open();
  const dropped = queues.of(names);
  queues.forgetIdle(dropped);
  const next = queues.of(names);
  queues.forgetIdle(dropped);
  expect(queues.find(names.endpointId)).toBe(next);
});

test("an endpoint's stored gate is deleted once its breaker closes, even if a dropped queue has read it", async () => {
  const { queues, gates, deleted } = open();
  const dropped = queues.of(names);
  queues.forgetIdle(dropped);
  const next = queues.of(names);
  await gates.refresh(next);
  await gates.refresh(dropped);
  queues.forgetIdle(dropped);
  next.adopt(newGate);
  await gates.keep(next, since);
  expect(deleted).toEqual(["stored"]);
});
