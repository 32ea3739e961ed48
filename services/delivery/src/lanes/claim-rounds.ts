import { repeat } from "@vidimus/kit/service/repeat";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { Standstill } from "../replicas/standstill.ts";
import type { EndpointDue } from "../store/lane-schedule.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { Alarm } from "./alarm.ts";
import type { EndpointQueues } from "./endpoint-queues.ts";
import type { Sender } from "./sender.ts";

interface ClaimRoundsDeps {
  readonly lanes: Pick<LaneStore, "schedule">;
  readonly queues: Pick<EndpointQueues, "of" | "find">;
  readonly sender: Pick<Sender, "claim">;
  readonly alarm: Alarm;
  readonly isPreferredFor: (tenantId: string) => boolean;
  /** Longest sleep; after it, lanes are found that other processes have made due. */
  readonly pollMs: number;
  /**
   * Lanes of other replicas' tenants are claimed once they are overdue by this, and the first due
   * time of their endpoint has stayed the same for as long.
   */
  readonly overdueMs: number;
  readonly log: Logger;
}

const retryMs = 250;

/** Has due lanes claimed and sent until the returned value is disposed. */
export function startClaiming(deps: ClaimRoundsDeps): AsyncDisposable {
  const standstill = new Standstill(deps.overdueMs);
  return repeat(() => claimRound(deps, standstill), {
    everyMs: deps.pollMs,
    retryMs,
    pause: (ms, signal) => deps.alarm.sleep(ms, signal),
    onFailure: (error) => deps.log.warn({ err: error }, "nothing can be claimed"),
  });
}

async function claimRound(deps: ClaimRoundsDeps, standstill: Standstill): Promise<void> {
  const schedule = await deps.lanes.schedule();
  const now = Date.now();
  standstill.forgetBefore(now - 60_000);
  const plans = schedule.map((each) => planOf(deps, each, standstill, now));
  for (const { at } of plans) if (at > now) deps.alarm.ringAt(at);
  const claims = plans
    .filter(({ at }) => at <= now)
    .map(({ endpoint, isForeign }) => {
      const dueBy = new Date(now - (isForeign ? deps.overdueMs : 0));
      return deps.sender.claim(deps.queues.of(endpoint), dueBy);
    });
  // A failed claim does not fail the round: the claims for other endpoints go on, and the next
  // round claims for this endpoint again.
  const failed = (await Promise.allSettled(claims)).filter((each) => each.status === "rejected");
  for (const { reason } of failed) deps.log.warn({ err: reason }, "lanes of an endpoint not claimed");
}

interface ClaimPlan {
  readonly endpoint: EndpointDue;
  /** Earliest time of the claim, in milliseconds since 1970. */
  readonly at: number;
  /** Whether another replica is preferred for the endpoint's tenant. */
  readonly isForeign: boolean;
}

function planOf(
  { isPreferredFor, overdueMs, queues }: ClaimRoundsDeps,
  endpoint: EndpointDue,
  standstill: Standstill,
  now: number,
): ClaimPlan {
  const dueAt = endpoint.nextAttemptAt.getTime();
  // A due probe takes a lane out of its backoff: the backoff may last an hour, and receivers are
  // promised probes 5 seconds to 5 minutes apart.
  const probeAt = queues.find(endpoint.endpointId)?.probeAt() ?? dueAt;
  if (isPreferredFor(endpoint.tenantId)) return { endpoint, at: Math.min(dueAt, probeAt), isForeign: false };
  // Lanes are claimed in the order of their due times, so the endpoint's first due time changes
  // while the other replica works.
  const stillAt = dueAt > now ? 0 : standstill.note(endpoint.endpointId, String(dueAt), now);
  return { endpoint, at: Math.max(dueAt + overdueMs, stillAt), isForeign: true };
}
