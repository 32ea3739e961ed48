import { createBatcher } from "@vidimus/kit/queues/batcher";
import { repeat } from "@vidimus/kit/service/repeat";
import { withLease } from "@vidimus/kit/service/with-lease";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { Alarm } from "../lanes/alarm.ts";
import type { DeliveryLogStore, Resent } from "../store/delivery-log-store.ts";
import type { ClaimedReplay, ReplayStore } from "../store/replay-store.ts";
import { type ReplayTurnDeps, takeTurn } from "./take-turn.ts";

interface ReplaysDeps extends Omit<ReplayTurnDeps, "record"> {
  readonly deliveryLog: ReplayTurnDeps["deliveryLog"] & Pick<DeliveryLogStore, "recordResent">;
  readonly replays: Pick<ReplayStore, "claim" | "renew" | "release" | "advance" | "finish">;
  readonly pollMs: number;
  readonly leaseMs: number;
  readonly log: Logger;
}

/** Most replays at once in this process. */
const atOnceMax = 4;

/**
 * Works on replays that are not leased, until the returned value is disposed; other processes then
 * continue them. Replays alternate after each page, and a tenant with a running replay here comes
 * after tenants without one.
 */
export function startReplays(deps: ReplaysDeps): AsyncDisposable {
  const running = new Map<Promise<void>, string>();
  const alarm = new Alarm();
  const record = createBatcher<Resent, void>({
    itemsMax: 128,
    inFlightMax: 2,
    run: async (resent) => {
      await deps.deliveryLog.recordResent(resent, new Date());
      return resent.map(() => undefined);
    },
  });
  const sending = { ...deps, record };
  const begin = async (signal: AbortSignal) => {
    while (running.size < atOnceMax && !signal.aborted) {
      const now = new Date();
      const until = new Date(now.getTime() + deps.leaseMs);
      const claimed = await deps.replays.claim(now, until, [...running.values()]);
      if (!claimed) return;
      const work = workOn(sending, claimed, signal).finally(() => {
        running.delete(work);
        alarm.ring();
      });
      running.set(work, claimed.replay.tenantId);
    }
  };
  const claims = repeat(begin, {
    everyMs: deps.pollMs,
    pause: (ms, signal) => alarm.sleep(ms, signal),
    onFailure: (error) => deps.log.warn({ err: error }, "no replay can be claimed"),
  });
  return {
    async [Symbol.asyncDispose]() {
      await claims[Symbol.asyncDispose]();
      await Promise.all(running.keys());
    },
  };
}

/**
 * Works on one page of a replay, and renews its lease meanwhile. Ends early when the lease is lost
 * or the replay was cancelled.
 */
async function workOn(deps: ReplaysDeps & ReplayTurnDeps, claimed: ClaimedReplay, stopped: AbortSignal): Promise<void> {
  const { leaseMs, replays, pollMs, log } = deps;
  const { failedTurns, replayId } = claimed.replay;
  const renew = (until: Date) => replays.renew(claimed, until);
  await withLease({ leaseMs, renew, signal: stopped }, async ({ signal }) => {
    try {
      const next = await takeTurn(deps, claimed, signal);
      if (next) await replays.release(claimed, next.at, next.failedTurns);
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, replayId }, "a replay waits");
      // When this process stops, others continue at once; after an error, a second later.
      const at = new Date(Date.now() + (signal.aborted ? 0 : pollMs));
      await replays.release(claimed, at, failedTurns).catch(() => {});
    }
  });
}
