/**
 * CPU of a publication from its call until it is signed and delivered to one endpoint, 50 a second:
 * documents, signing, delivery, mongod and nats-server together, compared with one process that
 * makes the same transaction, signs, records and posts, and its mongod.
 */
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { compare, type Turn } from "./load/compare.ts";
import { runPaced } from "./load/paced-load.ts";
import { openReceiver } from "./load/receiver.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar } from "./load/verdict.ts";
import { asAdmin, asEditor, createDrafts, untilDelivered } from "./stage/drafts.ts";
import { openStage } from "./stage/open-stage.ts";
import { cpuMsOf } from "./measure/process-cpu.ts";

const { rounds, durationMs } = readBenchSettings();
const perSecond = 50;
const count = (durationMs * perSecond) / 1_000;

await using stage = await openStage();
await using receiver = await openReceiver();
const { tenantId, constellation } = stage;
using documents = openRpcClient(DocumentService, { target: constellation.dev.grpc.documents });
using endpoints = openRpcClient(EndpointService, { target: constellation.dev.grpc.delivery });
await endpoints.createEndpoint({ tenantId, url: receiver.url }, asAdmin);
const baseline = await stage.startBaseline("bare-publishing");

const {
  ratio,
  ours,
  baseline: bare,
} = await compare({ name: "vidimus", run: publish }, { name: "bare", run: publishBare }, rounds);
console.log(
  `       CPU ms a publication: ${(1_000 / ours.perSecond).toFixed(1)}, bare ${(1_000 / bare.perSecond).toFixed(1)}`,
);
checkBar("CPU of a publication, times the bare process", 1 / ratio, { atMost: 3 });

async function cpuOf(names: readonly string[]): Promise<number> {
  const { pids } = await constellation.current();
  return cpuMsOf(names.flatMap((name) => pids[name] ?? []));
}

/** Measures publications per second of CPU, so that more is better. */
async function publish(): Promise<Turn> {
  const ids = await createDrafts(documents, tenantId, count, 2_000);
  const processes = ["documents", "signing", "delivery", "mongod", "nats"];
  receiver.clear();
  const before = await cpuOf(processes);
  const send = async () => {
    const transition = { documentId: ids.pop() ?? "", name: "publish", expectedVersion: 1n };
    await documents.transitionDocument({ tenantId, transition }, asEditor);
  };
  await runPaced({ perSecond, durationMs, send });
  await receiver.untilCount(count, 60_000);
  await untilDelivered(stage.documents);
  return { perSecond: (count * 1_000) / ((await cpuOf(processes)) - before) };
}

async function publishBare(): Promise<Turn> {
  const search = new URLSearchParams({
    durationMs: String(durationMs),
    perSecond: String(perSecond),
    url: receiver.url,
  });
  const before = await cpuOf(["mongod"]);
  const answer = await fetch(`${baseline}/run?${search}`, { method: "POST" });
  if (!answer.ok) throw new Error(`the baseline answered ${answer.status} ${await answer.text()}`);
  const { cpuMs } = (await answer.json()) as { cpuMs: number };
  return { perSecond: (count * 1_000) / (cpuMs + (await cpuOf(["mongod"])) - before) };
}
