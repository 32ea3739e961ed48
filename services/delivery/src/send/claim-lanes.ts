import type { Logger } from "@vidimus/kit/telemetry/log";
import type { LeasedLane } from "../store/delivery-rows.ts";
import type { EndpointStateStore } from "../store/endpoint-state-store.ts";
import type { EndpointDue, LaneStore } from "../store/lane-store.ts";
import type { EndpointLanes } from "./endpoint-lanes.ts";
import type { Sender } from "./sender.ts";

export interface ClaimDeps {
  readonly lanes: Pick<LaneStore, "schedule" | "claim">;
  readonly states: Pick<EndpointStateStore, "list">;
  readonly sender: Pick<Sender, "lanesOf" | "capacity" | "take" | "adopt" | "alarm" | "onCapacity">;
  /** Whether this replica is preferred for a tenant. */
  readonly isPreferredFor: (tenantId: string) => boolean;
  readonly leaseMs: number;
  /** Longest sleep, after which due lanes of other processes are found. */
  readonly pollMs: number;
  /** A replica that is not preferred for a tenant takes over what is overdue by this. */
  readonly overdueMs: number;
  readonly log: Logger;
}

const retryMs = 250;

/** Claims due lanes and hands them to the sender, until it is disposed. MongoDB is the scheduler. */
export function startClaiming(deps: ClaimDeps): AsyncDisposable {
  const stop = new AbortController();
  const loop = claimUntilStopped(deps, stop.signal);
  deps.sender.onCapacity = (lanes) => {
    if (stop.signal.aborted) return;
    claimOf(deps, lanes, new Date()).catch((error: unknown) => {
      deps.log.warn({ err: error, endpointId: lanes.endpointId }, "lanes of an endpoint not claimed");
      deps.sender.alarm.ring();
    });
  };
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      deps.sender.alarm.ring();
      await loop;
    },
  };
}

async function claimUntilStopped(deps: ClaimDeps, signal: AbortSignal): Promise<void> {
  const { alarm } = deps.sender;
  while (!signal.aborted) {
    let sleepMs = deps.pollMs;
    try {
      await claimRound(deps);
    } catch (error) {
      deps.log.warn({ err: error }, "nothing can be claimed");
      sleepMs = retryMs;
    }
    if (!signal.aborted) await alarm.sleep(sleepMs);
  }
}

async function claimRound(deps: ClaimDeps): Promise<void> {
  const schedule = await deps.lanes.schedule();
  const now = Date.now();
  const isDue = (due: EndpointDue) => dueAtOf(deps, due) <= now;
  const due = schedule.filter(isDue);
  for (const each of schedule) if (!isDue(each)) deps.sender.alarm.ringAt(dueAtOf(deps, each));
  const isForeign = ({ tenantId }: EndpointDue) => !deps.isPreferredFor(tenantId);
  // What the preferred replica has learned about them: it may wait for their breakers.
  if (due.some(isForeign)) deps.sender.adopt(await deps.states.list());
  const claims = due.map((each) =>
    claimOf(deps, each, isForeign(each) ? new Date(now - deps.overdueMs) : new Date(now)),
  );
  // A claim that fails must not keep the lanes of other endpoints waiting for their leases.
  const failed = (await Promise.allSettled(claims)).filter((each) => each.status === "rejected");
  for (const { reason } of failed) deps.log.warn({ err: reason }, "lanes of an endpoint not claimed");
}

function dueAtOf({ isPreferredFor, overdueMs }: ClaimDeps, { tenantId, nextAttemptAt }: EndpointDue): number {
  return nextAttemptAt.getTime() + (isPreferredFor(tenantId) ? 0 : overdueMs);
}

async function claimOf(deps: ClaimDeps, due: Pick<EndpointDue, "tenantId" | "endpointId">, dueBy: Date): Promise<void> {
  const { sender, leaseMs } = deps;
  const lanes = sender.lanesOf(due);
  if (lanes.isClaiming) return;
  lanes.isClaiming = true;
  try {
    const scope = claimScope(deps, lanes, dueBy);
    if (!scope) return;
    const claimed = await deps.lanes.claim({ endpointId: due.endpointId, ...scope }, new Date(Date.now() + leaseMs));
    lanes.hasMoreDue = scope.dueBy !== undefined && claimed.length === scope.limit;
    handOver(deps, claimed);
  } finally {
    lanes.isClaiming = false;
  }
}

/** What of an endpoint may be claimed now; undefined for nothing. */
function claimScope(
  { sender }: ClaimDeps,
  lanes: EndpointLanes,
  dueBy: Date,
): { dueBy?: Date; limit: number } | undefined {
  const now = Date.now();
  const admission = lanes.admission(now);
  // A probe may be of a lane that waits for its backoff: a failed probe puts its lane last.
  if (admission.kind === "probe") return lanes.readyCount > 0 ? undefined : { limit: 1 };
  const limit = sender.capacity(lanes);
  if (limit > 0) return { dueBy, limit };
  if (admission.kind === "none" && admission.until !== undefined) sender.alarm.ringAt(admission.until);
  lanes.hasMoreDue = true;
  return undefined;
}

function handOver({ sender }: ClaimDeps, claimed: readonly LeasedLane[]): void {
  if (claimed.length > 0) sender.take(claimed, [], []);
}
