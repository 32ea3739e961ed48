import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { AttemptOutcome } from "../domain/delivery.ts";
import type { LaneStep } from "../domain/advance-lane.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { SendableRow } from "../store/delivery-rows.ts";
import type { Prepared } from "./attempt-lane.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";

interface MetricsDeps {
  readonly registry: Registry;
  readonly lanes: Pick<LaneStore, "backlog">;
  readonly endpoints: Pick<EndpointStore, "listDisabledIds">;
  /** These must include all endpoints whose breaker is open at this replica. */
  readonly queues: Iterable<Pick<EndpointQueue, "endpointId" | "gate">>;
}

export interface DeliveryMetrics {
  /** @param ended the rows whose ends were journaled */
  observe(
    attempt: Pick<Extract<Prepared, { kind: "ready" }>, "row" | "payload">,
    outcome: AttemptOutcome,
    ended: LaneStep<SendableRow>["ended"],
  ): void;
  /** Notes rows that were given up without an attempt. */
  noteGivenUp(count: number): void;
}

/** The metrics name only endpoints with a backlog or an open breaker. */
export function createDeliveryMetrics({ registry, lanes, endpoints, queues }: MetricsDeps): DeliveryMetrics {
  const registers = [registry];
  const latency = new Histogram({
    name: "vidimus_delivery_seconds",
    help: "Seconds from a snapshot's commit to the 2xx of an endpoint.",
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 3_600],
    registers,
  });
  const attempts = new Counter({
    name: "vidimus_delivery_attempts_total",
    help: "Attempts, by HTTP status class or by why there was no answer.",
    labelNames: ["outcome"],
    registers,
  });
  const endings = new Counter({
    name: "vidimus_deliveries_ended_total",
    help: "Deliveries that reached a final state by an attempt or by their age, by state.",
    labelNames: ["state"],
    registers,
  });
  // From zero, because Prometheus sees no increase in the first value of a series.
  for (const state of ["delivered", "superseded", "exhausted"]) endings.inc({ state }, 0);
  registerBreakers(registry, queues);
  registerBacklog(registry, async () => lanes.backlog(await endpoints.listDisabledIds()));
  return {
    observe({ row, payload }, outcome, ended) {
      attempts.inc({ outcome: outcome.status ? `${Math.floor(outcome.status / 100)}xx` : (outcome.failure ?? "none") });
      for (const { state } of ended) endings.inc({ state });
      // A notice has no commit. A snapshot that was signed again may be years old, so the time
      // since its commit says nothing.
      if (row.notice || payload.signingNumber > 1 || !ended.some(({ state }) => state === "delivered")) return;
      const endedMs = outcome.startedAt.getTime() + outcome.tookMs;
      latency.observe(Math.max(0, endedMs - payload.committedAt.getTime()) / 1_000);
    },
    noteGivenUp: (count) => endings.inc({ state: "exhausted" }, count),
  };
}

function registerBreakers(registry: Registry, queues: MetricsDeps["queues"]): void {
  const breakers = new Gauge({
    name: "vidimus_delivery_breaker_open",
    help: "1 while this replica sends an endpoint nothing but probes.",
    labelNames: ["endpoint"],
    registers: [],
    collect() {
      this.reset();
      for (const { endpointId, gate } of queues) if (gate.open) this.set({ endpoint: endpointId }, 1);
    },
  });
  registry.registerMetric(breakers);
}

type Backlog = Awaited<ReturnType<LaneStore["backlog"]>>;

/** @param readBacklog leaves out disabled endpoints, whose deliveries wait on purpose */
function registerBacklog(registry: Registry, readBacklog: () => Promise<Backlog>): void {
  let underway: Promise<Backlog | undefined> | undefined;
  // Both gauges of a scrape share one read of the database.
  const read = () =>
    (underway ??= readBacklog()
      .catch(() => undefined)
      .finally(() => (underway = undefined)));
  const seconds = ({ oldestAt }: { oldestAt: Date }) => Math.max(0, Date.now() - oldestAt.getTime()) / 1_000;
  const ages = new Gauge({
    name: "vidimus_delivery_backlog_seconds",
    help: "Age of an enabled endpoint's oldest undelivered webhook, of the hundred oldest ones.",
    labelNames: ["endpoint"],
    registers: [],
    async collect() {
      const backlog = await read();
      this.reset();
      for (const each of backlog ?? []) this.set({ endpoint: each.endpointId }, seconds(each));
    },
  });
  const oldest = new Gauge({
    name: "vidimus_delivery_oldest_seconds",
    help: "Age of the oldest undelivered webhook to an enabled endpoint; 0 without one.",
    registers: [],
    async collect() {
      const backlog = await read();
      if (backlog) this.set(Math.max(0, ...backlog.map(seconds)));
      else this.remove();
    },
  });
  registry.registerMetric(oldest);
  registry.registerMetric(ages);
}
