import { sampledOf, type Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { TransitionQueueOptions } from "./domain/transitions/transition-queue.ts";
import { TransactionConflict } from "./domain/transitions/transition-transaction.ts";

/**
 * Gives a transaction a span when at least one of its transitions has a recorded trace. The callers
 * of a transaction may have several traces: its span belongs to the first recorded one and links to
 * the other ones.
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
