import { withinDeadline } from "@vidimus/kit/deadline";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type AttemptOutcome, verdictOf } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { advance, type LaneAttempt, type LaneStep } from "../domain/advance-lane.ts";
import { noticePayload } from "../domain/endpoint-notice.ts";
import type { Postable } from "../domain/payload.ts";
import type { RetryPlan } from "../domain/retry-plan.ts";
import { webhookHeaders } from "../domain/webhook-headers.ts";
import type { PostWebhook } from "../net/post-webhook.ts";
import { attemptOf } from "../net/trace-attempts.ts";
import type { LeasedLane, SendableRow } from "../store/delivery-rows.ts";
import type { Journaled, LaneJournal } from "../store/lane-journal.ts";
import type { LaneRecord } from "../store/lane-records.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { ResentRowStore } from "../store/resent-row-store.ts";
import { rowOf } from "./lanes-in-hand.ts";
import { enabledAtNow, expediteIfEnabled } from "./enabled-meanwhile.ts";
import type { EndpointDirectory } from "./endpoint-directory.ts";
import type { PayloadCache } from "./payload-cache.ts";

export interface AttemptDeps {
  readonly directory: Pick<EndpointDirectory, "find" | "findNow">;
  readonly payloads: Pick<PayloadCache, "get">;
  readonly lanes: Pick<LaneStore, "renew" | "loadArrivals" | "appointBearers" | "expedite">;
  readonly journal: Pick<LaneJournal, "noteAccepted">;
  readonly resentRows: Pick<ResentRowStore, "endOutrun">;
  /** `LaneJournal.record`, batched. */
  readonly record: (record: LaneRecord) => Promise<Journaled>;
  readonly post: PostWebhook;
  readonly retries: RetryPlan;
  readonly attemptMs: number;
  readonly leaseMs: number;
  readonly log: Logger;
}

/** A lane's next attempt, or why it cannot be made. */
export type Prepared =
  | {
      readonly kind: "ready";
      readonly lane: LeasedLane;
      readonly row: SendableRow;
      readonly endpoint: Endpoint;
      readonly payload: Postable;
    }
  /**
   * `gone`: the endpoint was deleted. `lost`: this process has lost the lease, or the lane has no
   * row in memory. `outrun`: the row was to send a snapshot again, and its lane has a newer one.
   */
  | { readonly kind: "gone" | "disabled" | "lost" | "outrun" }
  /**
   * Documents or signing have no body for the row, or `prepareAttempt` rejected. The lane is tried
   * again later.
   */
  | { readonly kind: "unavailable" };

export type ReadyAttempt = Extract<Prepared, { kind: "ready" }>;

/**
 * Gets the body, reads the endpoint, and renews the lease if it would not outlast the attempt.
 * Rejects for example when documents, signing or MongoDB are unavailable.
 */
export async function prepareAttempt(deps: AttemptDeps, lane: LeasedLane): Promise<Prepared> {
  const row = rowOf(lane);
  if (!row) return { kind: "lost" };
  const { rows } = lane.state;
  // Rows before this one have yielded to it and are not sent before it, so only later bodies are
  // prefetched.
  const next = firstBytes(rows.slice(rows.indexOf(row) + 1));
  const body = row.notice ? noticePayload(row, row.notice) : deps.payloads.get(row, next);
  const payload = await body;
  // The endpoint is read only now, because making the payload may take seconds, in which the
  // endpoint may be disabled.
  const endpoint = await deps.directory.find(row.endpointId);
  if (!endpoint) return { kind: "gone" };
  if (!endpoint.enabled) return { kind: "disabled" };
  if (!payload) return { kind: "unavailable" };
  // A newer snapshot is looked for under the lease: one that is stored after this check waits
  // behind this row, and is sent after it.
  const isAgain = row.signingNumber > 1;
  if (isAgain && (await deps.resentRows.endOutrun([row], new Date())).length > 0) return { kind: "outrun" };
  const renewed = await outlivingAttempt(deps, lane);
  return renewed ? { kind: "ready", lane: renewed, row, endpoint, payload } : { kind: "lost" };
}

/** Most bytes of following bodies that are made together with the one that is needed now. */
const nextBytesMax = 1024 * 1024;

function firstBytes(rows: readonly SendableRow[]): readonly SendableRow[] {
  let left = nextBytesMax;
  const end = rows.findIndex(({ bodyBytes }) => (left -= bodyBytes) < 0);
  return end === -1 ? rows : rows.slice(0, end);
}

/**
 * The lane with a lease that lasts longer than an attempt; undefined when this process has lost the
 * lease.
 */
async function outlivingAttempt(
  { lanes, attemptMs, leaseMs }: AttemptDeps,
  lane: LeasedLane,
): Promise<LeasedLane | undefined> {
  const now = Date.now();
  // Time that must be left when the longest attempt ends, because clocks of processes differ.
  const graceMs = (leaseMs - attemptMs) / 2;
  if (lane.leaseUntil.getTime() - now >= attemptMs + graceMs) return lane;
  const leaseUntil = new Date(now + leaseMs);
  return (await lanes.renew(lane, leaseUntil)) ? { ...lane, leaseUntil } : undefined;
}

export async function postAttempt(deps: Pick<AttemptDeps, "post">, attempt: ReadyAttempt): Promise<AttemptOutcome> {
  const { endpoint, payload, row } = attempt;
  const number = row.attemptCount + 1;
  const headers = webhookHeaders({ payload, endpoint, deliveryId: row.deliveryId, attempt: number, at: new Date() });
  const traced = attemptOf(payload, row, row.endpointId, number);
  return deps.post({ url: endpoint.url, headers, body: payload.body, ...traced });
}

export interface JournaledAttempt {
  readonly step: LaneStep<SendableRow>;
  /** The rows whose ends were journaled. */
  readonly ended: LaneStep<SendableRow>["ended"];
  /** The lane under a new lease, when this process may send the next row at once. */
  readonly lane?: LeasedLane;
  readonly isLost: boolean;
}

const recordRetryMs = 250;

/**
 * Journals an attempt. Repeats a failed write until the lease ends; when none has succeeded by
 * then, the process that claims the lane next makes the attempt again.
 *
 * @param mayGoOn whether the lane's next row may be sent at once
 */
export async function journalAttempt(
  deps: AttemptDeps,
  attempt: ReadyAttempt,
  outcome: AttemptOutcome,
  { isProbe, mayGoOn }: { isProbe: boolean; mayGoOn: () => boolean },
): Promise<JournaledAttempt> {
  let { lane } = attempt;
  const token = randomUUID();
  for (;;) {
    const { enabledAt } = attempt.endpoint;
    let step = stepOf(deps, lane, outcome, { isProbe, enabledAt });
    try {
      if (step.ended.some(({ state }) => state === "exhausted")) {
        const counted = await enabledAtNow(deps, attempt.endpoint, endOf(outcome));
        step = stepOf(deps, lane, outcome, { isProbe, enabledAt: counted });
      }
      const leased = step.next === "attempt" && mayGoOn() ? { leaseUntil: new Date(Date.now() + deps.leaseMs) } : {};
      const journaled = await deps.record({
        before: lane,
        step,
        outcome,
        webhookId: attempt.payload.webhookId,
        token,
        ...leased,
      });
      if (journaled.kind === "followed") {
        lane = await deps.lanes.loadArrivals(lane);
        continue;
      }
      if (journaled.kind === "lost") {
        const isDelivered = await noteLost(deps, attempt.row, outcome);
        return { step, ended: isDelivered ? [{ row: attempt.row, state: "delivered" }] : [], isLost: true };
      }
      if (step.next === "unknown") await deps.lanes.appointBearers([attempt.row], new Date());
      const isWaiting = step.next === "wait" && verdictOf(outcome) !== "accepted";
      if (isWaiting && (await expediteIfEnabled(deps, attempt.endpoint, attempt.row))) {
        step = { ...step, lane: { ...step.lane, dueAt: new Date(), isExpedited: true } };
      }
      const kept = journaled.lane ? { lane: journaled.lane } : {};
      return { step, ended: step.ended, isLost: false, ...kept };
    } catch (error) {
      deps.log.warn({ err: error, deliveryId: attempt.row.deliveryId }, "attempt not recorded");
      if (Date.now() > lane.leaseUntil.getTime()) return { step, ended: [], isLost: true };
      await pause(recordRetryMs);
    }
  }
}

function stepOf(
  deps: AttemptDeps,
  lane: LeasedLane,
  outcome: AttemptOutcome,
  known: Pick<LaneAttempt, "isProbe" | "enabledAt">,
) {
  const { retryAfterMs } = outcome;
  const attempt = { verdict: verdictOf(outcome), endedAt: endOf(outcome), retryAfterMs, ...known };
  return advance(lane.state, attempt, deps.retries, Math.random());
}

function endOf({ startedAt, tookMs }: AttemptOutcome): Date {
  return new Date(startedAt.getTime() + tookMs);
}

/**
 * Notes an accepted webhook even when another process has the lane, so that it is not sent again.
 *
 * @returns whether that has ended the row
 */
async function noteLost(deps: AttemptDeps, row: SendableRow, outcome: AttemptOutcome): Promise<boolean> {
  if (verdictOf(outcome) !== "accepted") return false;
  const isDelivered = await deps.journal.noteAccepted(row, outcome);
  await deps.lanes.appointBearers([row], new Date());
  return isDelivered;
}

export async function untilEnded(running: ReadonlySet<Promise<void>>, ms: number): Promise<void> {
  await withinDeadline(Promise.all(running), ms);
}
