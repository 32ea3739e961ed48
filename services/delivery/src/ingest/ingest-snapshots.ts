import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { HeldDelivery } from "../domain/delivery.ts";
import { createPayload, type Payload, type Reference } from "../domain/payload.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { PayloadStore } from "../store/payload-store.ts";
import { planDeliveries } from "./plan-deliveries.ts";
import { pullSnapshots } from "./pull-snapshots.ts";
import { referenceToProto, withPredecessors } from "./references.ts";
import { createReportMismatch, type SignedSnapshot, signSnapshots } from "./sign-snapshots.ts";

/** Attempts deliveries: `send/sender.ts`. */
interface DeliveryTaker {
  /** How many more deliveries to an endpoint it takes right now. */
  roomOf(endpointId: string): number;
  /** Attempts deliveries whose leases this process holds. Passing their payloads saves a read. */
  take(held: readonly HeldDelivery[], payloads: readonly Payload[]): void;
  /** Looks for due deliveries in the database. */
  wake(): void;
}

interface IngestDeps {
  feed: Pick<Client<typeof SnapshotFeedService>, "getSnapshots" | "attachSignatures" | "acknowledgeSnapshots">;
  signing: Pick<Client<typeof SigningService>, "signSnapshots">;
  endpoints: Pick<EndpointStore, "listOf">;
  payloads: Pick<PayloadStore, "insert" | "stored">;
  deliveries: Pick<DeliveryStore, "insert" | "laneHeads" | "advance" | "hurry">;
  sender: DeliveryTaker;
  log: Logger;
  leaseMs: number;
}

/**
 * Ingests snapshots. Rejects when documents, signing or MongoDB cannot be used right now; call it
 * again then.
 */
export type Ingest = (references: readonly Reference[], signal: AbortSignal) => Promise<Ingested>;

/** Snapshots whose deliveries are stored. */
export interface Ingested {
  /** Resolves when documents has stored their signatures and no longer lists them as pending. */
  readonly acknowledged: Promise<unknown>;
}

/** Most items of one AttachSignatures call. */
const attachmentsMax = 256;

/**
 * Makes the function that ingests snapshots: it pulls them, has them signed, stores their
 * deliveries, passes these to the sender, stores the payloads, attaches the signatures in
 * documents, and acknowledges. Each step may be repeated, so a process may die between any two.
 */
export function createIngest(deps: IngestDeps): Ingest {
  const reportMismatch = createReportMismatch(deps.log);
  // Receivers do not wait for acknowledgements, so the next snapshots are ingested meanwhile.
  const acknowledge = createBatcher<Acknowledgement, void>({
    itemsMax: attachmentsMax,
    run: (signed) => attachAndAcknowledge(deps.feed, signed),
  });
  return async (references, signal) => {
    const wanted = await withPredecessors(references, (ids) => deps.payloads.stored(ids));
    const acknowledgements: Promise<unknown>[] = [];
    for await (const snapshots of pullSnapshots(deps.feed, wanted, signal)) {
      const signed = await signSnapshots({ ...deps, reportMismatch }, snapshots, signal);
      if (signed.length === 0) continue;
      await storeAndSend(deps, signed);
      const page = Promise.all(signed.map((each) => acknowledge({ attachment: toAttachment(each), signal })));
      // Without a handler a rejection ends the process. The caller handles it once `acknowledged`
      // is returned.
      page.catch(() => {});
      acknowledgements.push(page);
    }
    return { acknowledged: Promise.all(acknowledgements) };
  };
}

interface Acknowledgement {
  readonly attachment: ReturnType<typeof toAttachment>;
  readonly signal: AbortSignal;
}

function toAttachment({ snapshot, signature: { keyId, statement, value } }: SignedSnapshot) {
  return { reference: referenceToProto(snapshot), signature: { keyId, statement, value } };
}

/** Uses the first signal: all signals abort when the process stops. */
async function attachAndAcknowledge(
  feed: IngestDeps["feed"],
  signed: readonly Acknowledgement[],
): Promise<undefined[]> {
  const attachments = signed.map(({ attachment }) => attachment);
  const options = signed[0] ? { signal: signed[0].signal } : {};
  await feed.attachSignatures({ attachments }, options);
  await feed.acknowledgeSnapshots({ references: attachments.map(({ reference }) => reference) }, options);
  return signed.map(() => undefined);
}

/**
 * Stores deliveries before payloads, so that a stored payload proves that its deliveries are
 * stored; `withPredecessors` relies on it. The sender starts before the payloads are stored,
 * because a repeated ingest makes the same payloads.
 */
async function storeAndSend(deps: IngestDeps, signed: readonly SignedSnapshot[]): Promise<void> {
  const stored = signed.map(({ snapshot, signature }) => {
    const { tenantId, documentId, sequence } = snapshot;
    return { tenantId, documentId, sequence, payload: createPayload(snapshot, signature) };
  });
  const held = await storeDeliveries(deps, stored);
  const payloads = stored.map(({ payload }) => payload);
  deps.sender.take(held, payloads);
  await deps.payloads.insert(stored, new Date());
  deps.sender.wake();
}

async function storeDeliveries(deps: IngestDeps, stored: readonly Reference[]): Promise<HeldDelivery[]> {
  const references = stored.map(({ tenantId, documentId, sequence }) => ({ tenantId, documentId, sequence }));
  const endpoints = await deps.endpoints.listOf([...new Set(references.map(({ tenantId }) => tenantId))]);
  if (endpoints.length === 0) return [];
  const lanes = references.flatMap(({ tenantId, documentId }) =>
    endpoints
      .filter((endpoint) => endpoint.tenantId === tenantId)
      .map(({ endpointId }) => ({ tenantId, endpointId, documentId })),
  );
  const heads = await deps.deliveries.laneHeads(lanes);
  const now = new Date();
  const leaseUntil = new Date(now.getTime() + deps.leaseMs);
  const roomOf = (endpointId: string) => deps.sender.roomOf(endpointId);
  const owed = planDeliveries({ references, endpoints, heads, roomOf, now, leaseUntil });
  const { held, waiting } = await deps.deliveries.insert(owed);
  await deps.deliveries.hurry(waiting, new Date());
  // Deliveries that were stored earlier: the process that stored them may have died before it
  // advanced their lanes.
  const arrived = new Set(waiting.map(({ deliveryId }) => deliveryId));
  const behind = owed.filter(({ deliveryId, nextAttemptAt }) => nextAttemptAt > now && !arrived.has(deliveryId));
  await deps.deliveries.advance(behind, new Date());
  return held;
}
