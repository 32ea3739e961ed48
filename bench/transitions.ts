/**
 * Publish transitions of one tenant, 64 callers over gRPC with the whole constellation at work, beside one transaction
 * a document straight on the driver; then the same with a second documents process on the same database.
 */
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client";
import { runCallers } from "./load/caller-load.ts";
import { compare, type Side } from "./load/compare.ts";
import { readBenchSettings } from "./load/settings.ts";
import { judge, judgeBaseline } from "./load/verdict.ts";
import { asEditor, createDrafts, untilDelivered } from "./stage/drafts.ts";
import { openStage } from "./stage/open-stage.ts";
import { runBaseline } from "./stage/run-baseline.ts";
import { startSecondDocuments } from "./stage/second-documents.ts";

type Documents = RpcClient<typeof DocumentService>;

const { rounds, durationMs } = readBenchSettings();
const callers = 64;
/** More than a turn can publish; what is left over serves the next one. */
const draftsPerSecond = 5_000;
const drafts: string[] = [];

await using stage = await openStage();
await using second = await startSecondDocuments(stage.constellation);
using first = openRpcClient(DocumentService, { target: stage.constellation.dev.grpc.documents });
using other = openRpcClient(DocumentService, { target: second.target });
const baseline = await stage.startBaseline("bare-transitions");

const one = publishing("vidimus", [first]);
const single = { name: "one each", run: () => runBaseline(baseline, { durationMs }) };
const { ours, ratio, baseline: bare } = await compare(one, single, rounds);
const both = await compare(publishing("two", [first, other]), { ...one, name: "one" }, rounds);

judgeBaseline("with one transaction a document", bare.perSecond, 270);
judge("publications a second of one tenant", ours.perSecond, { atLeast: 1_000 });
console.log(`       publications, times one transaction a document: ${ratio.toFixed(2)} (no bar)`);
judge("p99 with two processes, times that with one", both.ours.p99Ms / both.baseline.p99Ms, { atMost: 5 });

/** Callers are dealt out evenly among the processes. */
function publishing(name: string, processes: readonly Documents[]): Side {
  const call = (caller: number) => {
    const documentId = drafts.pop();
    if (documentId === undefined) return undefined;
    return (processes[caller % processes.length] ?? first).transitionDocument(
      { tenantId: stage.tenantId, transition: { documentId, name: "publish", expectedVersion: 1n } },
      asEditor,
    );
  };
  const run = async () => {
    const missing = (durationMs / 1_000) * draftsPerSecond - drafts.length;
    drafts.push(...(await createDrafts(first, stage.tenantId, Math.max(0, missing), 2_000)));
    const result = await runCallers({ callers, durationMs, call });
    await untilDelivered(stage.documents);
    return result;
  };
  return { name, run };
}
