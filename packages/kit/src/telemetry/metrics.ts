import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";

/** The metrics of a process. Services register metrics of their own on `registry`. */
export interface Metrics {
  readonly registry: Registry;
  /** Duration of handled RPCs in seconds, by method and code. */
  readonly rpcHandled: Histogram<"method" | "code">;
  /** Calls and connections that a door refused because of who called. */
  readonly callsRefused: Counter<"door" | "reason">;
}

/**
 * Creates a registry with Node's metrics and those of the RPC server, each labelled with the
 * service.
 */
export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
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
