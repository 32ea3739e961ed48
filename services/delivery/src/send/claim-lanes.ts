import type { Logger } from "@vidimus/kit/telemetry/log";
import { Standstill } from "../replicas/standstill.ts";
import type { LeasedLane } from "../store/delivery-rows.ts";
import type { EndpointStateStore } from "../store/endpoint-state-store.ts";
import type { EndpointDue, LaneStore } from "../store/lane-store.ts";
import type { EndpointLanes } from "./endpoint-lanes.ts";
import { claimMax, type Sender } from "./sender.ts";

export interface ClaimDeps {
  readonly lanes: Pick<LaneStore, "schedule" | "claim">;
  readonly states: Pick<EndpointStateStore, "list">;
  readonly sender: Pick<
    Sender,
    "lanesOf" | "capacity" | "take" | "pump" | "probeAt" | "adopt" | "alarm" | "onCapacity"
  >;
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
  const standstill = new Standstill(deps.overdueMs);
  while (!signal.aborted) {
    let sleepMs = deps.pollMs;
    try {
      await claimRound(deps, standstill);
    } catch (error) {
      deps.log.warn({ err: error }, "nothing can be claimed");
      sleepMs = retryMs;
    }
    if (!signal.aborted) await alarm.sleep(sleepMs);
  }
}

async function claimRound(deps: ClaimDeps, standstill: Standstill): Promise<void> {
  const schedule = await deps.lanes.schedule();
  const now = Date.now();
  standstill.forgetBefore(now - 60_000);
  const plans = schedule.map((each) => planOf(deps, each, standstill, now));
  for (const { at } of plans) if (at > now) deps.sender.alarm.ringAt(at);
  const due = plans.filter(({ at }) => at <= now);
  // What the preferred replica has learned about them: it may wait for their breakers.
  if (due.some(({ isForeign }) => isForeign)) deps.sender.adopt(await deps.states.list());
  const claims = due.map(({ endpoint, isForeign }) =>
    claimOf(deps, endpoint, new Date(now - (isForeign ? deps.overdueMs : 0))),
  );
  // A claim that fails must not keep the lanes of other endpoints waiting for their leases.
  const failed = (await Promise.allSettled(claims)).filter((each) => each.status === "rejected");
  for (const { reason } of failed) deps.log.warn({ err: reason }, "lanes of an endpoint not claimed");
}

interface ClaimPlan {
  readonly endpoint: EndpointDue;
  /** When its lanes are to be claimed. */
  readonly at: number;
  /** Whether another replica is preferred for it. */
  readonly isForeign: boolean;
}

function planOf(
  { isPreferredFor, overdueMs, sender }: ClaimDeps,
  endpoint: EndpointDue,
  standstill: Standstill,
  now: number,
): ClaimPlan {
  const dueAt = endpoint.nextAttemptAt.getTime();
  // A probe takes a lane out of its backoff, which may last an hour, and a probe is promised sooner.
  const probeAt = sender.probeAt(endpoint.endpointId) ?? dueAt;
  if (isPreferredFor(endpoint.tenantId)) return { endpoint, at: Math.min(dueAt, probeAt), isForeign: false };
  // Its lanes come to the front in the order of their due times.
  const stillAt = dueAt > now ? 0 : standstill.note(endpoint.endpointId, String(dueAt), now);
  return { endpoint, at: Math.max(dueAt + overdueMs, stillAt), isForeign: true };
}

async function claimOf(deps: ClaimDeps, due: Pick<EndpointDue, "tenantId" | "endpointId">, dueBy: Date): Promise<void> {
  const { sender, leaseMs } = deps;
  const lanes = sender.lanesOf(due);
  if (lanes.isClaiming) return;
  lanes.isClaiming = true;
  try {
    const scope = claimScope(deps, lanes, dueBy);
    if (!scope) return;
    lanes.reserved += scope.limit;
    try {
      const claimed = await deps.lanes.claim({ endpointId: due.endpointId, ...scope }, new Date(Date.now() + leaseMs));
      lanes.hasMoreDue = scope.dueBy !== undefined && claimed.length === scope.limit;
      handOver(deps, claimed);
    } finally {
      lanes.reserved -= scope.limit;
    }
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
  if (admission.kind === "probe") {
    if (lanes.readyCount === 0) return { limit: 1 };
    sender.pump(lanes);
    return undefined;
  }
  const limit = Math.min(claimMax, sender.capacity(lanes));
  if (limit > 0) return { dueBy, limit };
  if (admission.kind === "none" && admission.until !== undefined) sender.alarm.ringAt(admission.until);
  lanes.hasMoreDue = true;
  return undefined;
}

function handOver({ sender }: ClaimDeps, claimed: readonly LeasedLane[]): void {
  if (claimed.length > 0) sender.take(claimed, [], []);
}
