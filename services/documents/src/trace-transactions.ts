import { sampledOf, type Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { TransitionQueueOptions } from "./domain/transitions/transition-queue.ts";
import { TransactionConflict } from "./domain/transitions/transition-transaction.ts";

/**
 * Records the transactions of transitions whose traces are recorded. Several callers share a
 * transaction: its span belongs to the first one's trace and links to the others.
 */
export function traceTransactions(
  tracing: Tracing,
  runBatch: TransitionQueueOptions["runBatch"],
): TransitionQueueOptions["runBatch"] {
  return async (tenantId, requests) => {
    const [parent, ...links] = sampledOf(requests.map(({ traceparent }) => traceparent));
    if (parent === undefined) return runBatch(tenantId, requests);
    const attributes = { "vidimus.tenant.id": tenantId, "vidimus.transition.count": requests.length };
    const span = tracing.start({ name: "transition transaction", kind: "internal", parent, links, attributes });
    try {
      const outcomes = await runBatch(tenantId, requests);
      span.end();
      return outcomes;
    } catch (error) {
      span.end({}, error instanceof TransactionConflict ? "conflict" : "error");
      throw error;
    }
  };
}
