import type { Client } from "@connectrpc/connect";
import type { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { throttle } from "@vidimus/kit/telemetry/throttle";
import { setTimeout as pause } from "node:timers/promises";
import { referenceFromProto } from "../ingest/references.ts";
import type { ResendStore } from "../store/resend-store.ts";
import type { ClaimedResigning, ResigningStore } from "../store/resigning-store.ts";
import type { ResigningRun } from "../store/rows.ts";
import { replaceSignatures } from "./replace-signatures.ts";
import { sendResends, type SendResendsDeps } from "./send-resends.ts";

export interface RunResigningDeps extends Omit<SendResendsDeps, "resends"> {
  readonly audit: Pick<Client<typeof SignatureAuditService>, "listSignatures" | "getSignatures">;
  readonly resigning: Pick<ResigningStore, "save" | "finish">;
  readonly resends: Pick<ResendStore, "add" | "due" | "remove" | "tenants">;
  /** Whether the trust list has a key. */
  readonly isListed: (keyId: string) => boolean;
  /** See `DeliveryPace`. */
  readonly resendsPerSecond: number;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
}

const pageMax = 500;
const secondMs = 1_000;
const reportEveryMs = 60_000;

/**
 * Does what follows a revocation: replaces the signatures of keys that are not listed, in documents,
 * and sends the newest snapshots of documents again. Every step may be repeated; where it stands is
 * stored, so another process goes on.
 *
 * @returns once all is done, or another process has the lease
 */
export async function runResigning(
  deps: RunResigningDeps,
  claimed: ClaimedResigning,
  revoked: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let run: ResigningRun | undefined = claimed.run ?? begin(claimed, revoked);
  if (!claimed.run && !(await deps.resigning.save(claimed, run))) return;
  while (run?.phase === "walk") run = await walkPage(deps, claimed, run, signal);
  if (!run) return;
  const resent = await sendAll(deps, signal);
  await deps.resigning.finish(claimed, run.keyIds);
  const { keyIds, replaced } = run;
  deps.log.info({ keyIds, replaced, resent }, "signatures of revoked keys are replaced");
}

function begin({ doneKeyIds, hasFinished }: ClaimedResigning, revoked: readonly string[]): ResigningRun {
  const now = new Date();
  const keyIds = revoked.filter((keyId) => !doneKeyIds.includes(keyId));
  const phase = keyIds.length === 0 && hasFinished ? "send" : "walk";
  // Without a revocation that delivery has seen, none was made a moment ago.
  const since = keyIds.length > 0 ? now : new Date(0);
  return { keyIds, since, phase, passAt: now, pageToken: "", replaced: 0 };
}

/** Replaces signatures of one page. @returns where it stands then; undefined without the lease */
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
 * Signatures of a revoked key may come in for a while after the revocation, behind a pass that is
 * under way. Only a pass that began after that finds all; another one follows until then.
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

/** Sends again what is noted, each second a share of every tenant, so that none waits for another. */
async function sendAll(deps: RunResigningDeps, signal: AbortSignal): Promise<number> {
  const report = throttle(reportEveryMs, (error: unknown) =>
    deps.log.warn({ err: error }, "snapshots wait to be sent again"),
  );
  let stored = 0;
  for (;;) {
    const startedAt = Date.now();
    const tenants = await deps.resends.tenants();
    if (tenants.length === 0) return stored;
    for (const tenantId of tenants) {
      signal.throwIfAborted();
      stored += await sendResends(deps, tenantId, deps.resendsPerSecond, signal).catch((error: unknown) => {
        report(error);
        return 0;
      });
    }
    await pause(Math.max(0, startedAt + secondMs - Date.now()), undefined, { signal });
  }
}
