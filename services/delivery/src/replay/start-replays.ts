import { createBatcher } from "@vidimus/kit/queues/batcher";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { setTimeout as pause } from "node:timers/promises";
import type { DeliveryLogStore, Resent } from "../store/delivery-log-store.ts";
import type { ClaimedReplay, ReplayStore } from "../store/replay-store.ts";
import { runReplay, type RunReplayDeps } from "./run-replay.ts";

export interface ReplaysDeps extends Omit<RunReplayDeps, "record"> {
  readonly deliveryLog: RunReplayDeps["deliveryLog"] & Pick<DeliveryLogStore, "recordResent">;
  readonly replays: Pick<ReplayStore, "claim" | "renew" | "advance" | "finish">;
  readonly pollMs: number;
  readonly leaseMs: number;
  readonly log: Logger;
}

/** Replays that this process works on at the same time. */
const atOnceMax = 4;

/** Works on replays that nobody works on, until it is disposed; others then go on with them. */
export function startReplays(deps: ReplaysDeps): AsyncDisposable {
  const stop = new AbortController();
  const running = new Set<Promise<void>>();
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
        const claimed = running.size < atOnceMax ? await deps.replays.claim(now, until) : undefined;
        if (claimed) {
          const work = workOn(sending, claimed, stop.signal).finally(() => running.delete(work));
          running.add(work);
          continue;
        }
      } catch (error) {
        deps.log.warn({ err: error }, "no replay can be claimed");
      }
      await pause(deps.pollMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const looping = loop();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await looping;
      await Promise.all(running);
    },
  };
}

/** Keeps the lease while it works. When the lease is lost, or the replay was cancelled, it ends. */
async function workOn(deps: ReplaysDeps & RunReplayDeps, claimed: ClaimedReplay, stopped: AbortSignal): Promise<void> {
  const lost = new AbortController();
  const signal = AbortSignal.any([stopped, lost.signal]);
  const leaseOf = () => new Date(Date.now() + deps.leaseMs);
  const renewal = setInterval(() => {
    deps.replays.renew(claimed, leaseOf()).then(
      (kept) => kept || lost.abort(),
      () => {},
    );
  }, deps.leaseMs / 4);
  try {
    await runReplay(deps, claimed, signal);
  } catch (error) {
    if (!signal.aborted) deps.log.warn({ err: error, replayId: claimed.replay.replayId }, "a replay waits");
  } finally {
    clearInterval(renewal);
    // The next claim may follow at once; after an error a second later.
    const freeAt = new Date(Date.now() + (signal.aborted ? 0 : deps.pollMs));
    await deps.replays.renew(claimed, freeAt).catch(() => {});
  }
}
