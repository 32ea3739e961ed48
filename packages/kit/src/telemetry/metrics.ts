import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";

export interface Metrics {
  readonly registry: Registry;
  /** Duration of handled RPCs in seconds, by method and code. */
  readonly rpcHandled: Histogram<"method" | "code">;
  /** Calls and connections that a door refused because of the caller. */
  readonly callsRefused: Counter<"door" | "reason">;
}

/**
 * A timer samples the lag of the event loop at this interval. `nodejs_eventloop_lag_p99_seconds`
 * and its like are times between two ticks of the timer, so they are never much below the interval.
 * At the library's default of 10 ms the timer wakes an idle process a hundred times a second, for
 * 0.3 s of CPU a minute.
 */
const lagSampleMs = 50;

/**
 * Creates a registry with Node's metrics and those of the RPC server, each labelled with the
 * service.
 */
export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagSampleMs });
  const rpcHandled = new Histogram({
    name: "vidimus_rpc_handled_seconds",
    help: "Seconds a handled RPC took.",
    labelNames: ["method", "code"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  const callsRefused = new Counter({
    name: "vidimus_callers_refused_total",
    help: "Calls and connections that a door refused because of who called.",
    labelNames: ["door", "reason"],
    registers: [registry],
  });
  return { registry, rpcHandled, callsRefused };
}
