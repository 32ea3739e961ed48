import type { Client } from "@connectrpc/connect";
import type { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import type { Replay } from "../domain/delivery-log.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { snapshotKey } from "../domain/payload.ts";
import { referenceToProto } from "../snapshots/references.ts";
import type { DeliveryLogStore } from "../store/delivery-log-store.ts";
import { isFor, type ListedSnapshot } from "./replay-snapshot.ts";
import { readPage, type SnapshotPageDeps } from "./snapshot-page.ts";

export interface CountWantedDeps extends SnapshotPageDeps {
  readonly audit: Pick<Client<typeof SignatureAuditService>, "getSignatures">;
  readonly deliveryLog: Pick<DeliveryLogStore, "findSnapshots">;
}

interface WantedCount {
  /** Number of snapshots that the replay would send. */
  readonly wanted: number;
  /** Number of examined snapshots; the oldest are examined first. */
  readonly seen: number;
  readonly hasMore: boolean;
}

/** Counting ends at these limits, because a person waits for it. */
const [seenMax, countMsMax] = [10_000, 3_000];
const pageMax = 1_000;
/** Most references of one call of GetSignatures. */
const signaturesMax = 256;

/** Counts what a replay would send if it were started now. Sends and stores nothing. */
export async function countWanted(
  deps: CountWantedDeps,
  replay: Replay,
  endpoint: Pick<Endpoint, "tenantId" | "endpointId" | "events">,
  signal: AbortSignal,
): Promise<WantedCount> {
  const endsAt = Date.now() + countMsMax;
  let [wanted, seen, pageToken] = [0, 0, ""];
  do {
    const page = await readPage(deps, replay, { pageToken, limit: pageMax }, signal);
    seen += page.snapshots.length;
    wanted += await countOf(deps, replay, endpoint, page.snapshots, signal);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && seen < seenMax && Date.now() < endsAt);
  return { wanted, seen, hasMore: pageToken !== "" };
}

async function countOf(
  { audit, deliveryLog }: CountWantedDeps,
  replay: Replay,
  endpoint: Pick<Endpoint, "tenantId" | "endpointId" | "events">,
  snapshots: readonly ListedSnapshot[],
  signal: AbortSignal,
): Promise<number> {
  if (snapshots.length === 0) return 0;
  const wants = (event: string | undefined) => event !== undefined && endpoint.events.some((each) => each === event);
  const known = await deliveryLog.findSnapshots(endpoint, snapshots);
  const stored = snapshots.flatMap((each) => known.get(snapshotKey(each)) ?? []);
  const sentAgain = stored.filter((each) => isFor(replay, each) && wants(each.event));
  if (!replay.states.includes("missing")) return sentAgain.length;
  const missing = snapshots.filter((each) => !known.get(snapshotKey(each)));
  const events = await eventsOf({ audit }, missing, signal);
  return sentAgain.length + events.filter(wants).length;
}

/**
 * The snapshots' events, read from their signed statements. Leaves out snapshots without a
 * signature.
 */
async function eventsOf(
  { audit }: Pick<CountWantedDeps, "audit">,
  snapshots: readonly ListedSnapshot[],
  signal: AbortSignal,
): Promise<string[]> {
  const chunks = Array.from({ length: Math.ceil(snapshots.length / signaturesMax) }, (_, nth) =>
    snapshots.slice(nth * signaturesMax, (nth + 1) * signaturesMax),
  );
  const answers = await Promise.all(
    chunks.map((chunk) => audit.getSignatures({ references: chunk.map(referenceToProto) }, { signal })),
  );
  return answers.flatMap(({ signatures }) =>
    signatures.flatMap(({ signature }) => (signature ? `snapshot.${statusOf(signature.statement)}` : [])),
  );
}

/** A signed statement has nine lines; the sixth is the status. */
function statusOf(statement: string): string {
  return statement.split("\n")[5] ?? "";
}
