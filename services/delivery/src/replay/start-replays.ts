import { createBatcher } from "@vidimus/kit/queues/batcher";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { Alarm } from "../lanes/alarm.ts";
import type { DeliveryLogStore, Resent } from "../store/delivery-log-store.ts";
import type { ClaimedReplay, ReplayStore } from "../store/replay-store.ts";
import { type ReplayTurnDeps, takeTurn } from "./take-turn.ts";

export interface ReplaysDeps extends Omit<ReplayTurnDeps, "record"> {
  readonly deliveryLog: ReplayTurnDeps["deliveryLog"] & Pick<DeliveryLogStore, "recordResent">;
  readonly replays: Pick<ReplayStore, "claim" | "renew" | "release" | "advance" | "finish">;
  readonly pollMs: number;
  readonly leaseMs: number;
  readonly log: Logger;
}

/** Replays that this process works on at the same time. */
const atOnceMax = 4;

/**
 * Works on replays that are not leased, until it is disposed; other processes then go on with them. Replays
 * take turns of one page each, and those of a tenant come after those of tenants that have none here.
 */
export function startReplays(deps: ReplaysDeps): AsyncDisposable {
  const stop = new AbortController();
  const running = new Map<Promise<void>, string>();
  const alarm = new Alarm();
  const record = createBatcher<Resent, void>({
    itemsMax: 128,
    // While one batch is recorded, the next one is.
    inFlightMax: 2,
    run: async (resent) => {
      await deps.deliveryLog.recordResent(resent, new Date());
      return resent.map(() => undefined);
    },
  });
  const sending = { ...deps, record };
  const loop = async () => {
    while (!stop.signal.aborted) {
      try {
        const now = new Date();
        const until = new Date(now.getTime() + deps.leaseMs);
        const claimed =
          running.size < atOnceMax ? await deps.replays.claim(now, until, [...running.values()]) : undefined;
        if (claimed) {
          const work = workOn(sending, claimed, stop.signal).finally(() => {
            running.delete(work);
            alarm.ring();
          });
          running.set(work, claimed.replay.tenantId);
          continue;
        }
      } catch (error) {
        deps.log.warn({ err: error }, "no replay can be claimed");
      }
      if (!stop.signal.aborted) await alarm.sleep(deps.pollMs);
    }
  };
  const looping = loop();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      alarm.ring();
      await looping;
      await Promise.all(running.keys());
    },
  };
}

/** Keeps the lease while it works. When the lease is lost, or the replay was cancelled, it ends. */
async function workOn(deps: ReplaysDeps & ReplayTurnDeps, claimed: ClaimedReplay, stopped: AbortSignal): Promise<void> {
  const lost = new AbortController();
  const signal = AbortSignal.any([stopped, lost.signal]);
  const leaseOf = () => new Date(Date.now() + deps.leaseMs);
  const renewal = setInterval(() => {
    deps.replays.renew(claimed, leaseOf()).then(
      (kept) => kept || lost.abort(),
      () => {},
    );
  }, deps.leaseMs / 4);
  const { failedTurns } = claimed.replay;
  try {
    const next = await takeTurn(deps, claimed, signal);
    if (next) await deps.replays.release(claimed, next.at, next.failedTurns);
  } catch (error) {
    if (!signal.aborted) deps.log.warn({ err: error, replayId: claimed.replay.replayId }, "a replay waits");
    // Others go on at once when this process stops; after an error a second later.
    const at = new Date(Date.now() + (signal.aborted ? 0 : deps.pollMs));
    await deps.replays.release(claimed, at, failedTurns).catch(() => {});
  } finally {
    clearInterval(renewal);
  }
}
