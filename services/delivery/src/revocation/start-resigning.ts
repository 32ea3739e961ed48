import { repeat } from "@vidimus/kit/service/repeat";
import { withLease } from "@vidimus/kit/service/with-lease";
import type { Reference } from "../domain/payload.ts";
import type { ResendStore } from "../store/resend-store.ts";
import type { ResigningStore } from "../store/resigning-store.ts";
import type { TrustList } from "../trust/trust-list.ts";
import { runResigning, type RunResigningDeps } from "./run-resigning.ts";

interface ResigningDeps extends Omit<RunResigningDeps, "isListed" | "revoked"> {
  readonly trustList: Pick<TrustList, "isListed" | "revoked">;
  readonly resigning: Pick<ResigningStore, "done" | "claim" | "renew" | "save" | "finish" | "release">;
  readonly resends: RunResigningDeps["resends"] & Pick<ResendStore, "isEmpty">;
  readonly pollMs: number;
  readonly leaseMs: number;
}

/**
 * After a key was revoked, replaces its signatures, and sends those snapshots again that are the
 * newest of their documents.
 */
interface Resigning extends AsyncDisposable {
  /**
   * Notes snapshots that were signed again during ingest: a process may have sent them with the old
   * signature and died before they were settled. Endpoints that have them with the old signature
   * get them again.
   */
  noteSignedAnew(references: readonly Reference[]): Promise<void>;
}

/**
 * Watches for revoked keys and does the work that follows, in one process at a time, until it is
 * disposed; another process then continues. Once the work is done, reads nothing until a key is
 * revoked or this process notes a snapshot. While the database has no record of this work, all
 * signatures are walked, because a key may have been revoked before.
 */
export function startResigning(deps: ResigningDeps): Resigning {
  // A process may have died before it sent its noted snapshots, so `resends` is read once at the
  // start.
  const noted = { isLikely: true };
  const loop = startLooking(deps, noted);
  return {
    async noteSignedAnew(references) {
      await deps.resends.add(references, new Date(Date.now() + deps.resigningGraceMs));
      noted.isLikely = true;
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

/** Whether `resends` may have rows. */
interface Noted {
  isLikely: boolean;
}

function startLooking(deps: ResigningDeps, noted: Noted): AsyncDisposable {
  let done: ReadonlySet<string> = new Set();
  let isDone = false;
  let waitingFor = "";
  const look = async (signal: AbortSignal) => {
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
  };
  return repeat(look, {
    everyMs: deps.pollMs,
    onFailure(error) {
      noted.isLikely = true;
      // A reason is logged once: while signing has no key, every run fails with the same one.
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== waitingFor) deps.log.warn({ err: error }, "signatures of revoked keys wait to be replaced");
      waitingFor = reason;
    },
  });
}

/**
 * Works under the lease, which is renewed meanwhile. Resolves also when the lease is lost.
 *
 * @returns false when another process has the lease at the start
 */
async function workIfFree(deps: ResigningDeps, stopped: AbortSignal): Promise<boolean> {
  const { leaseMs, resigning, trustList } = deps;
  const claimed = await resigning.claim(new Date(), new Date(Date.now() + leaseMs));
  if (!claimed) return false;
  const isListed = (keyId: string) => trustList.isListed(keyId);
  const revoked = () => trustList.revoked() ?? [];
  const renew = (until: Date) => resigning.renew(claimed, until);
  try {
    await withLease({ leaseMs, renew, signal: stopped }, async (lease) => {
      try {
        await runResigning({ ...deps, isListed, revoked }, claimed, lease.signal);
      } catch (error) {
        if (!lease.isLost) throw error;
      }
    });
  } finally {
    await resigning.release(claimed).catch(() => {});
  }
  return true;
}
