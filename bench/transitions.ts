/**
 * Publish transitions of one tenant over gRPC, by one caller and by 64 callers, compared with one
 * transaction for each document directly with the driver, both without delivery; then with
 * delivery, and with a second documents process on the same database.
 */
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { runCallers } from "./load/caller-load.ts";
import { compare } from "./load/compare.ts";
import type { LoadResult } from "./load/load-result.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar, checkBaseline } from "./load/verdict.ts";
import { asEditor, createDrafts, untilDelivered } from "./stage/drafts.ts";
import { holdDelivery } from "./stage/hold-delivery.ts";
import { openStage } from "./stage/open-stage.ts";
import { runBaseline } from "./stage/run-baseline.ts";
import { startSecondDocuments } from "./stage/second-documents.ts";

type Documents = RpcClient<typeof DocumentService>;

const { rounds, durationMs } = readBenchSettings();
const callers = 64;
/** More than can be published in a second; what a turn leaves is used in the next one. */
const draftsPerSecond = 5_000;
const drafts: string[] = [];

await using stage = await openStage();
await using second = await startSecondDocuments(stage.constellation);
using first = openRpcClient(DocumentService, { target: stage.constellation.dev.grpc.documents });
using other = openRpcClient(DocumentService, { target: second.target });
const baseline = await stage.startBaseline("bare-transitions");

const undelivered = (count: number) => () =>
  delivered(holdDelivery(stage.constellation, () => publish([first], count)));
const single = { name: "one each", run: () => runBaseline(baseline, { durationMs }) };
const alone = await compare({ name: "one caller", run: undelivered(1) }, single, rounds);
const { ours, ratio, baseline: bare } = await compare({ name: "vidimus", run: undelivered(callers) }, single, rounds);
const one = { name: "one", run: () => delivered(publish([first])) };
const two = { name: "two", run: () => delivered(publish([first, other])) };
const both = await compare(two, one, rounds);

checkBaseline("with one transaction a document", bare.perSecond, 208);
console.log(`       publications a second of one tenant: ${Math.round(ours.perSecond)} (no bar)`);
checkBar("time of one publication, times that of one transaction", 1 / alone.ratio, { atMost: 2 });
checkBar("publications of 64 callers, times one transaction a document", ratio, { atLeast: 5 });
const delivering = both.baseline.perSecond / bare.perSecond;
checkBar("the same with delivery at work", delivering, { atLeast: 3.5 });
checkBar("p99 with two processes, times that with one", both.ours.p99Ms / both.baseline.p99Ms, { atMost: 3 });

async function publish(processes: readonly Documents[], count = callers): Promise<LoadResult> {
  const missing = (durationMs / 1_000) * draftsPerSecond - drafts.length;
  drafts.push(...(await createDrafts(first, stage.tenantId, Math.max(0, missing), 2_000)));
  const call = (caller: number) => {
    const documentId = drafts.pop();
    if (documentId === undefined) return undefined;
    return (processes[caller % processes.length] ?? first).transitionDocument(
      { tenantId: stage.tenantId, transition: { documentId, name: "publish", expectedVersion: 1n } },
      asEditor,
    );
  };
  return runCallers({ callers: count, durationMs, call });
}

async function delivered(turn: Promise<LoadResult>): Promise<LoadResult> {
  const result = await turn;
  await untilDelivered(stage.documents);
  return result;
}
