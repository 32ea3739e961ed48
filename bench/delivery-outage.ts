/**
 * A receiver answers 503 for a minute, while 100 snapshots a second are committed: how long after
 * its first 2xx it has all of them, and whether those of each document came in order.
 */
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { webhookIdOf } from "@vidimus/delivery/domain/payload";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { setTimeout as pause } from "node:timers/promises";
import { openReceiver } from "./load/receiver.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar } from "./load/verdict.ts";
import { asAdmin, createDrafts } from "./stage/drafts.ts";
import { openStage } from "./stage/open-stage.ts";

const { outageMs } = readBenchSettings();
const perSecond = 100;
/** Each document is published and withheld in turn, so that there is an order to keep. */
const documentCount = 500;
const count = (outageMs / 1_000) * perSecond;
const drainMsMax = 600_000;

await using stage = await openStage();
await using receiver = await openReceiver();
const { tenantId, constellation } = stage;
using documents = openRpcClient(DocumentService, { target: constellation.dev.grpc.documents });
using endpoints = openRpcClient(EndpointService, { target: constellation.dev.grpc.delivery });
await endpoints.createEndpoint({ tenantId, url: receiver.url }, asAdmin);
const ids = await createDrafts(documents, tenantId, documentCount, 2_000);
const sequences = new Map(ids.map((id) => [id, 0]));

receiver.treat("refuse");
const started = performance.now();
await Promise.all(Array.from({ length: count }, (_, index) => commit(index)));
const over = started + outageMs;
await pause(Math.max(0, over - performance.now()));
receiver.treat("accept");
await receiver.untilCount(count, drainMsMax);

const arrivals = [...receiver.arrivals.values()].map(({ monotonicMs }) => monotonicMs);
const drainSeconds = (Math.max(...arrivals) - Math.min(...arrivals)) / 1_000;
console.log(
  `       snapshots: ${count}; the first 2xx came ${((Math.min(...arrivals) - over) / 1_000).toFixed(1)} s after the outage`,
);
checkBar("drain after the first 2xx, seconds", drainSeconds, { atMost: 15 });
checkBar("snapshots that came after a newer one of their document", outOfOrder(), { atMost: 0 });
checkBar("snapshots that were lost", count - receiver.arrivals.size, { atMost: 0 });

/** An open loop over the documents; the transitions of one document are 5 s apart. */
async function commit(index: number): Promise<void> {
  const documentId = ids[index % ids.length] ?? "";
  await pause(Math.max(0, started + (index * 1_000) / perSecond - performance.now()));
  const name = Math.floor(index / ids.length) % 2 === 0 ? "publish" : "withhold";
  const transition = { documentId, name, expectedVersion: 1n };
  const { sequence } = await documents.transitionDocument({ tenantId, transition }, asAdmin);
  sequences.set(documentId, Number(sequence));
}

function outOfOrder(): number {
  const positions = new Map([...receiver.arrivals.keys()].map((webhookId, at) => [webhookId, at]));
  const positionOf = (documentId: string, sequence: number) =>
    positions.get(webhookIdOf({ tenantId, documentId, sequence })) ?? Number.NaN;
  let wrong = 0;
  for (const [documentId, newest] of sequences) {
    for (let sequence = 2; sequence <= newest; sequence += 1) {
      if (positionOf(documentId, sequence) < positionOf(documentId, sequence - 1)) wrong += 1;
    }
  }
  return wrong;
}
