import { createLogger } from "@vidimus/kit/telemetry/log";
import { createMetrics } from "@vidimus/kit/telemetry/metrics";
import { Readiness } from "@vidimus/kit/readiness";

export function silentProcess(name: string) {
  return { log: createLogger(name, "silent"), metrics: createMetrics(name), readiness: new Readiness() };
}
