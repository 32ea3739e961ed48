/**
 * Webhooks of 2 KB snapshots to one receiver: how fast the real path delivers a burst of
 * publications, compared with one process that only signs, records in batches and posts; then the
 * time from a snapshot's commit to the receiver at 200 a second.
 */
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { webhookIdOf } from "@vidimus/delivery/domain/payload";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { setTimeout as pause } from "node:timers/promises";
import { compare, type Turn } from "./load/compare.ts";
import { summarise } from "./load/load-result.ts";
import { openReceiver } from "./load/receiver.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar, checkBaseline } from "./load/verdict.ts";
import { asAdmin, asEditor, createDrafts, publishAll, untilDelivered } from "./stage/drafts.ts";
import { holdDelivery } from "./stage/hold-delivery.ts";
import { openStage } from "./stage/open-stage.ts";
import { runBaseline } from "./stage/run-baseline.ts";

const { rounds, durationMs, deliveries: count } = readBenchSettings();
const snapshotBytes = 2_000;
const perSecond = 200;
const arrivalMsMax = 240_000;

await using stage = await openStage();
await using receiver = await openReceiver();
const { tenantId, constellation } = stage;
using documents = openRpcClient(DocumentService, { target: constellation.dev.grpc.documents });
using endpoints = openRpcClient(EndpointService, { target: constellation.dev.grpc.delivery });
await endpoints.createEndpoint({ tenantId, url: receiver.url }, asAdmin);
const baseline = await stage.startBaseline("bare-delivery");

const bare = async () => {
  await writeOut();
  return runBaseline(baseline, { count, url: receiver.url, bytes: snapshotBytes });
};
const burst = await compare({ name: "vidimus", run: workOffBurst }, { name: "bare", run: bare }, rounds);
checkBaseline("that only signs, records and posts", burst.baseline.perSecond, 7_500);
checkBar("deliveries, times the bare process", burst.ratio, { atLeast: 0.5 });
checkBar("deliveries a second", burst.ours.perSecond, { atLeast: 3_000 });
await measureLatency();

/** Delivery is stopped while the burst is published, so that the time covers only delivery. */
async function workOffBurst(): Promise<Turn> {
  const ids = await createDrafts(documents, tenantId, count, snapshotBytes);
  receiver.clear();
  await holdDelivery(constellation, async () => {
    await publishAll(documents, tenantId, ids);
    await writeOut();
  });
  const started = performance.now();
  await receiver.untilCount(count, arrivalMsMax);
  const elapsedMs = performance.now() - started;
  await untilDelivered(stage.documents);
  return { perSecond: (count * 1_000) / elapsedMs };
}

/**
 * Makes mongod write its memory to disk; otherwise this turn would pay for writes of the one
 * before.
 */
async function writeOut(): Promise<void> {
  await stage.documents.client.db("admin").command({ fsync: 1 });
}

/** An open loop, in which a late snapshot delays no other. The first second is the warm-up. */
async function measureLatency(): Promise<void> {
  const warmUp = perSecond;
  const ids = await createDrafts(documents, tenantId, warmUp + (durationMs / 1_000) * perSecond, snapshotBytes);
  receiver.clear();
  const started = performance.now();
  const published = ids.map(async (documentId, index) => {
    await pause(Math.max(0, started + (index * 1_000) / perSecond - performance.now()));
    const transition = { documentId, name: "publish", expectedVersion: 1n };
    const { updatedAt } = await documents.transitionDocument({ tenantId, transition }, asEditor);
    const webhookId = webhookIdOf({ tenantId, documentId, sequence: 1 });
    return { webhookId, answeredMs: performance.now(), tickMs: updatedAt ? timestampMs(updatedAt) : Number.NaN };
  });
  const commits = (await Promise.all(published)).slice(warmUp);
  await receiver.untilCount(ids.length, arrivalMsMax);
  const arrivalOf = (id: string) => receiver.arrivals.get(id) ?? { monotonicMs: Number.NaN, wallMs: Number.NaN };
  const fromAnswer = commits.map(({ webhookId, answeredMs }) => arrivalOf(webhookId).monotonicMs - answeredMs);
  const fromTick = commits.map(({ webhookId, tickMs }) => arrivalOf(webhookId).wallMs - tickMs);
  const { p50Ms, p99Ms } = summarise(fromAnswer, durationMs);
  checkBar("commit (its answer) to receiver, p50 ms", p50Ms, { atMost: 15 });
  checkBar("commit (its answer) to receiver, p99 ms", p99Ms, { atMost: 50 });
  const tick = summarise(fromTick, durationMs);
  console.log(`       from the tick that opens the transaction: p50 ${tick.p50Ms} ms, p99 ${tick.p99Ms} ms (no bar)`);
}
