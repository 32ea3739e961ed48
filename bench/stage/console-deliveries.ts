import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import type { DevJson } from "@vidimus/devstack/stack/dev-json";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { setTimeout as pause } from "node:timers/promises";
import { openReceiver } from "../load/receiver.ts";
import { asAdmin, createDrafts, publishAll } from "./drafts.ts";

interface ShownDeliveries extends AsyncDisposable {
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly replayId: string;
}

const [endpointCount, documentCount, documentBytes] = [20, 100, 2_000];

/**
 * Registers endpoints, delivers documents to one of them, and replays them; resolves when all is
 * done.
 */
export async function deliverForConsole(dev: DevJson, tenantId: string): Promise<ShownDeliveries> {
  await using opening = new AsyncDisposableStack();
  const receiver = opening.use(await openReceiver());
  using documents = openRpcClient(DocumentService, { target: dev.grpc.documents });
  using endpoints = openRpcClient(EndpointService, { target: dev.grpc.delivery });
  using deliveries = openRpcClient(DeliveryLogService, { target: dev.grpc.delivery });
  const { endpoint } = await endpoints.createEndpoint({ tenantId, name: "Site", url: receiver.url }, asAdmin);
  const endpointId = endpoint?.endpointId ?? "";
  for (let count = 1; count < endpointCount; count += 1) {
    const documentTypes = { names: ["core/tag"] };
    const url = `${receiver.url}/${count}`;
    await endpoints.createEndpoint({ tenantId, name: `Site ${count}`, url, documentTypes }, asAdmin);
  }
  await publishAll(documents, tenantId, await createDrafts(documents, tenantId, documentCount, documentBytes));
  await receiver.untilCount(documentCount, 60_000);
  const { replay } = await deliveries.startReplay({ tenantId, endpointId, all: true }, asAdmin);
  const replayId = replay?.replayId ?? "";
  while ((await deliveries.getReplay({ tenantId, replayId }, asAdmin)).replay?.state === "running") await pause(100);
  const { deliveries: rows } = await deliveries.listDeliveries({ tenantId, limit: 1 }, asAdmin);
  const opened = opening.move();
  return {
    endpointId,
    deliveryId: rows[0]?.deliveryId ?? "",
    replayId,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
