import type { Logger } from "@vidimus/kit/telemetry/log";
import type { AttemptOutcome } from "../domain/delivery.ts";
import type { JournaledAttempt, Prepared } from "./attempt-lane.ts";

/** The logged state is `lost` when this process could not journal the attempt under its lease. */
export function logAttempt(
  log: Pick<Logger, "info">,
  { row, payload }: Extract<Prepared, { kind: "ready" }>,
  { status, failure, detail, tookMs: ms }: AttemptOutcome,
  { step, isLost }: JournaledAttempt,
): void {
  const { deliveryId, endpointId, tenantId: tenant, documentId, sequence, attemptCount } = row;
  const { webhookId, traceparent } = payload;
  const ended = step.ended.find((each) => each.row.deliveryId === deliveryId);
  const state = isLost ? "lost" : (ended?.state ?? "pending");
  const names = { deliveryId, endpointId, tenant, documentId, sequence, webhookId, traceparent };
  log.info({ ...names, attempt: attemptCount + 1, status, failure, detail, ms, state }, "attempt");
}
