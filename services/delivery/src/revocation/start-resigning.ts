import { setTimeout as pause } from "node:timers/promises";
import type { Reference } from "../domain/payload.ts";
import type { ResendStore } from "../store/resend-store.ts";
import type { ResigningStore } from "../store/resigning-store.ts";
import type { TrustList } from "../trust/trust-list.ts";
import { runResigning, type RunResigningDeps } from "./run-resigning.ts";

export interface ResigningDeps extends Omit<RunResigningDeps, "isListed" | "revoked"> {
  readonly trustList: Pick<TrustList, "isListed" | "revoked">;
  readonly resigning: Pick<ResigningStore, "done" | "claim" | "renew" | "save" | "finish" | "release">;
  readonly resends: RunResigningDeps["resends"] & Pick<ResendStore, "isEmpty">;
  readonly pollMs: number;
  readonly leaseMs: number;
}

/** Works on what follows a revocation. */
export interface Resigning extends AsyncDisposable {
  /**
   * Notes snapshots that were signed anew while they were taken in: a process may have sent them and
   * died before they were settled. Whoever has them with the old signature gets them again.
   */
  noteSignedAnew(references: readonly Reference[]): Promise<void>;
}

/**
 * Watches for keys that were revoked and works on what follows, in one process at a time, until it
 * is disposed; another process then goes on. Nothing is read while no key was revoked. A database
 * without any record of it is walked once, because a key may have been revoked before.
 */
export function startResigning(deps: ResigningDeps): Resigning {
  const stop = new AbortController();
  // The process before may have died with something noted.
  const noted = { isLikely: true };
  const looping = loop(deps, noted, stop.signal);
  return {
    async noteSignedAnew(references) {
      await deps.resends.add(references, new Date(Date.now() + deps.resigningGraceMs));
      noted.isLikely = true;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await looping;
    },
  };
}

/** Whether `resends` may have anything. */
interface Noted {
  isLikely: boolean;
}

async function loop(deps: ResigningDeps, noted: Noted, signal: AbortSignal): Promise<void> {
  let done: ReadonlySet<string> = new Set();
  let isDone = false;
  let waitingFor = "";
  while (!signal.aborted) {
    try {
      const revoked = deps.trustList.revoked();
      if (revoked && !(isDone && revoked.every((keyId) => done.has(keyId)))) {
        const known = await deps.resigning.done();
        done = new Set(known);
        isDone = known !== undefined && revoked.every((keyId) => done.has(keyId));
        if (!isDone) await workIfFree(deps, signal);
      } else if (revoked && noted.isLikely) {
        noted.isLikely = false;
        const isFree = (await deps.resends.isEmpty()) || (await workIfFree(deps, signal));
        noted.isLikely ||= !isFree;
      }
      waitingFor = "";
    } catch (error) {
      noted.isLikely = true;
      // Log a reason once: while signing has no key, every look fails with the same one.
      const reason = error instanceof Error ? error.message : String(error);
      if (!signal.aborted && reason !== waitingFor) {
        deps.log.warn({ err: error }, "signatures of revoked keys wait to be replaced");
      }
      waitingFor = reason;
    }
    await pause(deps.pollMs, undefined, { signal }).catch(() => {});
  }
}

/**
 * Works unless another process does, and keeps the lease meanwhile. When the lease is lost, it ends.
 *
 * @returns whether no other process had the lease
 */
async function workIfFree(deps: ResigningDeps, stopped: AbortSignal): Promise<boolean> {
  const leaseUntil = () => new Date(Date.now() + deps.leaseMs);
  const claimed = await deps.resigning.claim(new Date(), leaseUntil());
  if (!claimed) return false;
  const lost = new AbortController();
  const signal = AbortSignal.any([stopped, lost.signal]);
  const renewal = setInterval(() => {
    deps.resigning.renew(claimed, leaseUntil()).then(
      (kept) => kept || lost.abort(),
      () => {},
    );
  }, deps.leaseMs / 4);
  const isListed = (keyId: string) => deps.trustList.isListed(keyId);
  const revoked = () => deps.trustList.revoked() ?? [];
  try {
    await runResigning({ ...deps, isListed, revoked }, claimed, signal);
  } catch (error) {
    if (!lost.signal.aborted) throw error;
  } finally {
    clearInterval(renewal);
    await deps.resigning.release(claimed).catch(() => {});
  }
  return true;
}
