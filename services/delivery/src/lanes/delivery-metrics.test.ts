import { Registry } from "prom-client";
import { expect, test, vi } from "vitest";
import { type NewDelivery, toNewSendable } from "../store/delivery-rows.ts";
import { createDeliveryMetrics } from "./delivery-metrics.ts";

const createdAt = new Date();
const names = { tenantId: "acme", endpointId: "e1", documentId: "d1", deliveryId: "v1", webhookId: "w1", sequence: 1 };
const delivery: NewDelivery = { ...names, signingNumber: 1, createdAt, bodyBytes: 2, standing: "due" };
const committedAt = new Date(createdAt.getTime() - 7_000);
const payload = { webhookId: "w1", signingNumber: 1, event: "e", committedAt, body: Buffer.from("{}") };
const facts = { reason: "accepted" as const, at: createdAt, since: createdAt, host: "receiver.example" };
const notice: NewDelivery = { ...delivery, notice: { event: "endpoint.recovered", ...facts } };

function open(registry: Registry) {
  const lanes = { backlog: async () => [] };
  return createDeliveryMetrics({ registry, lanes, endpoints: { listDisabledIds: async () => [] }, queues: [] });
}

test("a scrape reads the backlog once for the age of each endpoint's backlog and the greatest age", async () => {
  const registry = new Registry();
  let reads = 0;
  const backlog = [
    { endpointId: "late", oldestAt: new Date(Date.now() - 60_000) },
    { endpointId: "early", oldestAt: new Date(Date.now() - 10_000) },
  ];
  const lanes = {
    backlog: async (without: readonly string[]) => {
      expect(without).toEqual(["disabled"]);
      reads += 1;
      return backlog;
    },
  };
  const endpoints = { listDisabledIds: async () => ["disabled"] };
  createDeliveryMetrics({ registry, lanes, endpoints, queues: [] });
  const text = await registry.metrics();
  expect(text).toMatch(/^vidimus_delivery_backlog_seconds\{endpoint="late"\} 60/m);
  expect(text).toMatch(/^vidimus_delivery_backlog_seconds\{endpoint="early"\} 10/m);
  expect(text).toMatch(/^vidimus_delivery_oldest_seconds 60/m);
  expect(reads).toBe(1);
  backlog.shift();
  expect(await registry.metrics()).not.toContain("late");
});

test("while the backlog cannot be read, its ages have no value", async () => {
  const registry = new Registry();
  const backlog = vi.fn<() => Promise<{ endpointId: string; oldestAt: Date }[]>>();
  const endpoints = { listDisabledIds: async () => [] };
  createDeliveryMetrics({ registry, lanes: { backlog }, endpoints, queues: [] });
  const samples = async () => (await registry.metrics()).match(/^vidimus_delivery_(oldest|backlog)_seconds\b.*/gm);
  for (let scrape = 0; scrape < 2; scrape += 1) {
    backlog.mockRejectedValueOnce(new Error("MongoDB does not answer"));
    expect(await samples()).toBeNull();
    backlog.mockResolvedValueOnce([{ endpointId: "e1", oldestAt: new Date(Date.now() - 60_000) }]);
    const age = expect.stringMatching(/ 60(\.|$)/);
    expect(await samples()).toEqual([age, age]);
  }
});

test("the counts of delivered, superseded and exhausted deliveries begin with zero", async () => {
  const registry = new Registry();
  open(registry);
  const text = await registry.metrics();
  for (const state of ["delivered", "superseded", "exhausted"]) {
    expect(text).toContain(`vidimus_deliveries_ended_total{state="${state}"} 0`);
  }
});

test.each([
  ["the time from a snapshot's commit to its 2xx is observed", delivery, 1, 1],
  ["no time is observed of a snapshot that was signed again, which may be old", delivery, 2, 0],
  ["no time is observed of a notice, which has no commit", notice, 1, 0],
])("%s", async (_title, stored, signingNumber, observed) => {
  const registry = new Registry();
  const row = toNewSendable(stored);
  const attempt = { row, payload: { ...payload, signingNumber } };
  open(registry).observe(attempt, { startedAt: createdAt, tookMs: 1_000, status: 204 }, [{ row, state: "delivered" }]);
  expect(await registry.metrics()).toContain(`vidimus_delivery_seconds_sum ${8 * observed}\n`);
  expect(await registry.metrics()).toContain(`vidimus_delivery_seconds_count ${observed}\n`);
});
