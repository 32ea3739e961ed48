import { createLogger } from "@vidimus/kit/telemetry/log";
import { createMetrics } from "@vidimus/kit/telemetry/metrics";
import { Readiness } from "@vidimus/kit/readiness";

/** The log, metrics and readiness of a process, for the RPC servers of tests. */
export function silentProcess(name: string) {
  return { log: createLogger(name, "silent"), metrics: createMetrics(name), readiness: new Readiness() };
}
