import type { Services } from "@vidimus/console/rpc/called-methods";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import type { DevJson } from "@vidimus/devstack/stack/dev-json";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { setTimeout as pause } from "node:timers/promises";
import { openReceiver } from "../load/receiver.ts";
import { asAdmin, createDrafts, publishAll } from "./drafts.ts";

/** Ids for the addresses of pages. Disposal closes the receiver of the webhooks. */
interface ShownDeliveries extends AsyncDisposable {
  readonly endpoint: string;
  readonly delivery: string;
  readonly replay: string;
}

const [endpointCount, changesOfEndpoint] = [20, 5];
const [documentCount, documentBytes] = [100, 2_000];

/**
 * Registers endpoints, delivers documents to one of them, and replays all its deliveries. Resolves
 * when the replay has ended.
 */
export async function deliverForConsole(
  dev: DevJson,
  { endpoints, deliveries }: Services,
  tenantId: string,
): Promise<ShownDeliveries> {
  await using opening = new AsyncDisposableStack();
  const receiver = opening.use(await openReceiver());
  using documents = openRpcClient(DocumentService, { target: dev.grpc.documents });
  const { endpoint } = await endpoints.createEndpoint({ tenantId, name: "Site", url: receiver.url }, asAdmin);
  const endpointId = endpoint?.endpointId ?? "";
  for (let count = 1; count < endpointCount; count += 1) {
    await addQuietEndpoint(endpoints, { tenantId, name: `Site ${count}`, url: `${receiver.url}/${count}` });
  }
  await publishAll(documents, tenantId, await createDrafts(documents, tenantId, documentCount, documentBytes));
  await receiver.untilCount(documentCount, 60_000);
  const { replay } = await deliveries.startReplay({ tenantId, endpointId, all: true }, asAdmin);
  const replayId = replay?.replayId ?? "";
  while ((await deliveries.getReplay({ tenantId, replayId }, asAdmin)).replay?.state === "running") await pause(100);
  const { deliveries: rows } = await deliveries.listDeliveries({ tenantId, limit: 1 }, asAdmin);
  const opened = opening.move();
  return {
    endpoint: endpointId,
    delivery: rows[0]?.deliveryId ?? "",
    replay: replayId,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Registers an endpoint that gets nothing, and changes it, for the audit log. */
async function addQuietEndpoint(
  endpoints: Services["endpoints"],
  { tenantId, name, url }: { readonly tenantId: string; readonly name: string; readonly url: string },
): Promise<void> {
  const documentTypes = { names: ["core/tag"] };
  const { endpoint } = await endpoints.createEndpoint({ tenantId, name, url, documentTypes }, asAdmin);
  const endpointId = endpoint?.endpointId ?? "";
  for (let change = 1; change <= changesOfEndpoint; change += 1) {
    await endpoints.updateEndpoint({ tenantId, endpointId, description: `Change ${change}` }, asAdmin);
  }
}
