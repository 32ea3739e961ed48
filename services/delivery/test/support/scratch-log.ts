import { createLogger } from "@vidimus/kit/log";
import { createMetrics } from "@vidimus/kit/metrics";
import { Readiness } from "@vidimus/kit/readiness";

/** What an RPC server of a test needs of a process. */
export function silentProcess(name: string) {
  return { log: createLogger(name, "silent"), metrics: createMetrics(name), readiness: new Readiness() };
}
