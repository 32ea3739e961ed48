/**
 * Time from the answer to a publication until its webhook arrives, at 100 publications a second,
 * while another tenant's endpoint was just enabled and gets the webhooks that waited for it;
 * compared with the same traffic while that endpoint stays disabled.
 */
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { webhookIdOf } from "@vidimus/delivery/domain/payload";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { setTimeout as pause } from "node:timers/promises";
import { compare, type Turn } from "./load/compare.ts";
import { summarise } from "./load/load-result.ts";
import { openReceiver } from "./load/receiver.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar } from "./load/verdict.ts";
import { asAdmin, asEditor, createDrafts, publishAll, untilDelivered } from "./stage/drafts.ts";
import { openStage } from "./stage/open-stage.ts";

const { rounds, durationMs } = readBenchSettings();
const [perSecond, heldPerSecond, bytes] = [100, 4_000, 2_000];
const [count, heldCount] = [perSecond, heldPerSecond].map((each) => (each * durationMs) / 1_000) as [number, number];
const arrivalMsMax = 120_000;

await using stage = await openStage();
const { dev } = stage.constellation;
using documents = openRpcClient(DocumentService, { target: dev.grpc.documents });
using endpoints = openRpcClient(EndpointService, { target: dev.grpc.delivery });
using access = openRpcClient(AccessService, { target: dev.grpc.access });
const asOwner = { headers: { "vidimus-role": "owner", "vidimus-actor": "bench" } };
await access.createTenant({ tenantId: "held", name: "held" }, asOwner);
await using own = await openReceiver();
await using neighbour = await openReceiver();
await endpoints.createEndpoint({ tenantId: stage.tenantId, url: own.url }, asAdmin);

/**
 * Held webhooks that were still undelivered at the end of each turn in which the endpoint was
 * enabled.
 */
const owed: number[] = [];
const drain = await compare(
  { name: "beside a drain", run: () => turn(true) },
  { name: "beside none", run: () => turn(false) },
  rounds,
);
checkBar("p99 beside a drain, times that beside none", 1 / drain.ratio, { atMost: 2 });
checkBar("webhooks that the drain still owed at the end of its shortest turn", Math.min(...owed), { atLeast: 1 });

/** Each turn has its own endpoint, so that no backlog is left to the next turn. */
async function turn(isEnabled: boolean): Promise<Turn> {
  const { endpoint } = await endpoints.createEndpoint({ tenantId: "held", url: neighbour.url }, asAdmin);
  const name = { tenantId: "held", endpointId: endpoint?.endpointId ?? "" };
  await endpoints.disableEndpoint(name, asAdmin);
  await publishAll(documents, "held", await createDrafts(documents, "held", heldCount, bytes));
  const ids = await createDrafts(documents, stage.tenantId, count, bytes);
  await untilDelivered(stage.documents);
  await stage.documents.client.db("admin").command({ fsync: 1 });
  if (isEnabled) await endpoints.enableEndpoint(name, asAdmin);
  const measured = await measure(ids);
  if (isEnabled) owed.push(heldCount - neighbour.arrivals.size);
  await endpoints.deleteEndpoint(name, asAdmin);
  own.clear();
  neighbour.clear();
  // `compare` takes more as better, so it gets the inverse of the p99.
  return { perSecond: 1_000 / measured.p99Ms, p50Ms: measured.p50Ms, p99Ms: measured.p99Ms };
}

/** An open loop, in which a late snapshot delays no other. */
async function measure(ids: readonly string[]) {
  const { tenantId } = stage;
  const started = performance.now();
  const answers = ids.map(async (documentId, index) => {
    await pause(Math.max(0, started + (index * 1_000) / perSecond - performance.now()));
    const transition = { documentId, name: "publish", expectedVersion: 1n };
    await documents.transitionDocument({ tenantId, transition }, asEditor);
    return { webhookId: webhookIdOf({ tenantId, documentId, sequence: 1 }), answeredMs: performance.now() };
  });
  const committed = await Promise.all(answers);
  await own.untilCount(ids.length, arrivalMsMax);
  const tookMs = committed.map(({ webhookId, answeredMs }) => {
    return (own.arrivals.get(webhookId)?.monotonicMs ?? Number.NaN) - answeredMs;
  });
  return summarise(tookMs, durationMs);
}
