import type { Client } from "@connectrpc/connect";
import type { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { throttle } from "@vidimus/kit/telemetry/throttle";
import { setTimeout as pause } from "node:timers/promises";
import { referenceFromProto } from "../snapshots/references.ts";
import type { ResendStore } from "../store/resend-store.ts";
import type { ClaimedResigning, ResigningStore } from "../store/resigning-store.ts";
import type { ResigningRun } from "../store/rows.ts";
import { replaceSignatures } from "./replace-signatures.ts";
import { sendResends, type SendResendsDeps } from "./send-resends.ts";

export interface RunResigningDeps extends Omit<SendResendsDeps, "resends"> {
  readonly audit: Pick<Client<typeof SignatureAuditService>, "listSignatures" | "getSignatures">;
  readonly resigning: Pick<ResigningStore, "save" | "finish">;
  readonly resends: Pick<ResendStore, "add" | "due" | "remove" | "tenants">;
  /** Returns the keys that were listed and no longer are. */
  readonly revoked: () => readonly string[];
  readonly isListed: (keyId: string) => boolean;
  /** See `DeliveryPace`. */
  readonly resendsPerSecond: number;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
}

const pageMax = 500;
const secondMs = 1_000;
const reportEveryMs = 60_000;

/**
 * Does the work that follows a revocation: replaces signatures of unlisted keys in documents, then
 * sends the newest snapshots of documents again. Signatures come first: sending takes more than an
 * hour for a tenant's 100,000 documents, and another revocation interrupts it. Every step may be
 * repeated, and progress is stored, so another process can continue.
 *
 * @returns when all is done, or another process has the lease
 */
export async function runResigning(
  deps: RunResigningDeps,
  claimed: ClaimedResigning,
  signal: AbortSignal,
): Promise<void> {
  const fresh = (run?: ResigningRun) => newlyRevoked(deps, claimed, run);
  let run: ResigningRun | undefined = claimed.run ?? begin(claimed, fresh());
  if (!claimed.run && !(await deps.resigning.save(claimed, run))) return;
  let resent = 0;
  for (;;) {
    const walked: ResigningRun | undefined = await walkAll(deps, claimed, run, signal);
    if (!walked) return;
    run = walked;
    resent += await sendAll(deps, () => fresh(walked).length > 0, signal);
    if (fresh(run).length === 0) break;
  }
  await deps.resigning.finish(claimed, run.keyIds);
  const { keyIds, replaced } = run;
  deps.log.info({ keyIds, replaced, resent }, "signatures of revoked keys are replaced");
}

/** Revoked keys that neither an earlier run nor this one covers. */
function newlyRevoked({ revoked }: RunResigningDeps, { doneKeyIds }: ClaimedResigning, run?: ResigningRun): string[] {
  return revoked().filter((keyId) => !doneKeyIds.includes(keyId) && !run?.keyIds.includes(keyId));
}

function begin({ hasFinished }: ClaimedResigning, keyIds: string[]): ResigningRun {
  const now = new Date();
  const phase = keyIds.length === 0 && hasFinished ? "send" : "walk";
  // When delivery has seen no revocation, no signature of a revoked key is still on its way to
  // documents, so one pass is enough.
  const since = keyIds.length > 0 ? now : new Date(0);
  return { keyIds, since, phase, passAt: now, pageToken: "", replaced: 0 };
}

/**
 * Runs passes until one has found every signature of a revoked key. @returns undefined without the
 * lease
 */
async function walkAll(
  deps: RunResigningDeps,
  claimed: ClaimedResigning,
  begun: ResigningRun,
  signal: AbortSignal,
): Promise<ResigningRun | undefined> {
  let run: ResigningRun | undefined = begun;
  while (run) {
    const added = newlyRevoked(deps, claimed, run);
    if (added.length > 0) run = extended(run, added);
    if (run.phase === "send") return run;
    run = await walkPage(deps, claimed, run, signal);
  }
  return undefined;
}

/**
 * Adds keys to a run. A pass that is running continues and is followed by another one; in the phase
 * `send` a new pass begins.
 */
function extended(run: ResigningRun, added: readonly string[]): ResigningRun {
  const since = new Date();
  const keyIds = [...run.keyIds, ...added];
  return run.phase === "walk"
    ? { ...run, keyIds, since }
    : { ...run, keyIds, since, phase: "walk", passAt: since, pageToken: "" };
}

/** Replaces signatures of one page. @returns the progress; undefined without the lease */
async function walkPage(
  deps: RunResigningDeps,
  claimed: ClaimedResigning,
  run: ResigningRun,
  signal: AbortSignal,
): Promise<ResigningRun | undefined> {
  const page = await deps.audit.listSignatures({ limit: pageMax, pageToken: run.pageToken }, { signal });
  const stale = page.signatures.flatMap(({ reference, signature }) =>
    reference && signature && !deps.isListed(signature.keyId) ? referenceFromProto(reference) : [],
  );
  const replaced = run.replaced + (await replaceSignatures(deps, stale, signal));
  const walked = { ...run, replaced, pageToken: page.nextPageToken };
  const next = walked.pageToken === "" ? await afterPass(deps, walked, signal) : walked;
  return (await deps.resigning.save(claimed, next)) ? next : undefined;
}

/**
 * Signatures of a revoked key may come in for a while after the revocation, behind the position of
 * a running pass. Only a pass that begins `resigningGraceMs` after the revocation finds all, so
 * passes are repeated until one has begun that late.
 */
async function afterPass(
  { resigningGraceMs }: RunResigningDeps,
  run: ResigningRun,
  signal: AbortSignal,
): Promise<ResigningRun> {
  const soundFrom = run.since.getTime() + resigningGraceMs;
  if (run.passAt.getTime() >= soundFrom) return { ...run, phase: "send" };
  await pause(Math.max(0, soundFrom - Date.now()), undefined, { signal });
  return { ...run, passAt: new Date(Math.max(soundFrom, Date.now())) };
}

/**
 * Sends the noted snapshots again, each second a share of every tenant, so that no tenant waits
 * until all of another tenant are sent.
 *
 * @param isInterrupted ends the sending early when it returns true; the rest stays noted
 */
async function sendAll(deps: RunResigningDeps, isInterrupted: () => boolean, signal: AbortSignal): Promise<number> {
  const report = throttle(reportEveryMs, (error: unknown) =>
    deps.log.warn({ err: error }, "snapshots wait to be sent again"),
  );
  let stored = 0;
  while (!isInterrupted()) {
    const startedAt = Date.now();
    const tenants = await deps.resends.tenants();
    if (tenants.length === 0) break;
    for (const tenantId of tenants) {
      signal.throwIfAborted();
      stored += await sendResends(deps, tenantId, deps.resendsPerSecond, signal).catch((error: unknown) => {
        report(error);
        return 0;
      });
    }
    await pause(Math.max(0, startedAt + secondMs - Date.now()), undefined, { signal });
  }
  return stored;
}
