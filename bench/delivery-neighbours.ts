/**
 * Time from the answer to a publication until its webhook arrives, at 100 publications a second,
 * while another tenant's endpoint is dead and a third tenant's takes two seconds for each answer;
 * compared with the same traffic with all endpoints healthy.
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
import { asAdmin, asEditor, createDrafts, untilDelivered } from "./stage/drafts.ts";
import { openStage } from "./stage/open-stage.ts";

const { rounds, durationMs } = readBenchSettings();
const rates = { own: 100, dead: 20, slow: 20 } as const;
const lateMs = 2_000;
const arrivalMsMax = 120_000;

await using stage = await openStage();
const { dev } = stage.constellation;
using documents = openRpcClient(DocumentService, { target: dev.grpc.documents });
using endpoints = openRpcClient(EndpointService, { target: dev.grpc.delivery });
using access = openRpcClient(AccessService, { target: dev.grpc.access });
const asOwner = { headers: { "vidimus-role": "owner", "vidimus-actor": "bench" } };
for (const tenantId of ["dead", "slow"]) await access.createTenant({ tenantId, name: tenantId }, asOwner);
await using own = await openReceiver();
await endpoints.createEndpoint({ tenantId: stage.tenantId, url: own.url }, asAdmin);

const beside = await compare(
  { name: "beside faults", run: () => turn(true) },
  { name: "beside healthy", run: () => turn(false) },
  rounds,
);
checkBar("p99 beside a dead and a slow endpoint, times that beside healthy ones", 1 / beside.ratio, { atMost: 1.5 });

/** Each turn has its own endpoints, so that no backlog is left to the next turn. */
async function turn(isFaulty: boolean): Promise<Turn> {
  await using neighbours = await openReceiver();
  const registered: { tenantId: string; endpointId: string }[] = [];
  await using dead = await openReceiver();
  for (const [tenantId, { url }] of [
    ["dead", dead],
    ["slow", neighbours],
  ] as const) {
    const { endpoint } = await endpoints.createEndpoint({ tenantId, url }, asAdmin);
    registered.push({ tenantId, endpointId: endpoint?.endpointId ?? "" });
  }
  dead.treat(isFaulty ? "hang" : "accept");
  neighbours.treat(isFaulty ? { lateMs } : "accept");
  const [measured] = await Promise.all([
    publish(stage.tenantId, rates.own),
    publish("dead", rates.dead),
    publish("slow", rates.slow),
  ]);
  for (const each of registered) await endpoints.deleteEndpoint(each, asAdmin);
  await untilDelivered(stage.documents);
  // `compare` takes more as better, so it gets the inverse of the p99.
  return { perSecond: 1_000 / measured.p99Ms, p50Ms: measured.p50Ms, p99Ms: measured.p99Ms };
}

/** An open loop that waits only for arrivals of the measured tenant. */
async function publish(tenantId: string, perSecond: number) {
  const count = (perSecond * durationMs) / 1_000;
  const ids = await createDrafts(documents, tenantId, count, 2_000);
  const started = performance.now();
  const answers = ids.map(async (documentId, index) => {
    await pause(Math.max(0, started + (index * 1_000) / perSecond - performance.now()));
    const transition = { documentId, name: "publish", expectedVersion: 1n };
    await documents.transitionDocument({ tenantId, transition }, asEditor);
    return { webhookId: webhookIdOf({ tenantId, documentId, sequence: 1 }), answeredMs: performance.now() };
  });
  const committed = await Promise.all(answers);
  if (tenantId !== stage.tenantId) return summarise([], durationMs);
  await own.untilCount(count, arrivalMsMax);
  const tookMs = committed.map(({ webhookId, answeredMs }) => {
    return (own.arrivals.get(webhookId)?.monotonicMs ?? Number.NaN) - answeredMs;
  });
  own.clear();
  return summarise(tookMs, durationMs);
}
