import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createDeliveryMetrics } from "./delivery-metrics.ts";

test("a scrape shows the backlog's age by endpoint and its greatest age, with one read of the database", async () => {
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
