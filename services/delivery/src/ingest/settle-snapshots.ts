import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { tracedFor } from "@vidimus/kit/rpc/context/call-span";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { LRUCache } from "lru-cache";
import { type FeedSnapshot, snapshotKey } from "../domain/payload.ts";
import { referenceToProto } from "../snapshots/references.ts";
import type { SignResult, Unsendable } from "../snapshots/sign-snapshots.ts";

const settlementsMax = 256;
/** Least time between two calls that are not full, because no webhook waits for a settlement. */
const settleSpacingMs = 25;
const reportIntervalMs = 10 * 60 * 1000;

interface SettleDeps {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "settleSnapshots">;
  readonly log: Pick<Logger, "error">;
}

/** A result of signing with which a snapshot is settled: a signature, or that it is unsendable. */
type Settleable = Exclude<SignResult, { isUnattested: true }>;

/** @param traceparent of the snapshot's ingest; undefined unless it is recorded */
type Settle = (result: SignResult, signal: AbortSignal, traceparent: string | undefined) => Promise<void>;

interface Settling {
  readonly result: Settleable;
  readonly signal: AbortSignal;
  readonly traceparent: string | undefined;
}

/**
 * Makes a function that hands signatures to documents and ends the pending state of snapshots, many
 * in one call. It rejects for a snapshot whose attestation signing does not accept: this snapshot
 * stays pending.
 */
export function createSettle({ feed, log }: SettleDeps): Settle {
  const report = createUnsendableReport(log);
  const settle = createBatcher<Settling, void>({
    itemsMax: settlementsMax,
    inFlightMax: 2,
    spacingMsOf: () => settleSpacingMs,
    run: async (items) => {
      const settlements = items.map(({ result }) => settlementToProto(result));
      const trace = tracedFor(items.map(({ traceparent }) => traceparent));
      // One signal is enough: all of them abort when the process stops.
      await feed.settleSnapshots({ settlements }, items[0] ? { ...trace, signal: items[0].signal } : trace);
      return items.map(() => undefined);
    },
  });
  return async (result, signal, traceparent) => {
    if ("isUnattested" in result) {
      report(result.snapshot, "unattested");
      throw new Error("signing does not accept what documents attested");
    }
    if ("unsendable" in result) report(result.snapshot, result.unsendable);
    await settle({ result, signal, traceparent });
  };
}

export function settlementToProto(result: Settleable) {
  const reference = referenceToProto(result.snapshot);
  if ("unsendable" in result) return { reference, outcome: { case: "unsendable" as const, value: result.unsendable } };
  const { endorsement, ...signature } = result.signature;
  return { reference, outcome: { case: "signature" as const, value: signature }, endorsement };
}

/**
 * Logs each unsendable or unattested snapshot at most once in ten minutes, because its settling may
 * be repeated.
 */
function createUnsendableReport(log: SettleDeps["log"]) {
  const reported = new LRUCache<string, true>({ max: 10_000, ttl: reportIntervalMs });
  return (snapshot: FeedSnapshot, reason: Unsendable | "unattested") => {
    const key = snapshotKey(snapshot);
    if (reported.has(key)) return;
    reported.set(key, true);
    const { tenantId: tenant, documentId, sequence } = snapshot;
    log.error({ alarm: "snapshot_unsendable", reason, tenant, documentId, sequence }, "snapshot is not sent");
  };
}
