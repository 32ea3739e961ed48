import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { createBatcher } from "@vidimus/kit/batcher";
import type { Logger } from "@vidimus/kit/log";
import type { HeldDelivery } from "../domain/delivery.ts";
import { createPayload, type Payload, type Reference } from "../domain/payload.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { SnapshotStore } from "../store/snapshot-store.ts";
import { planDeliveries } from "./plan-deliveries.ts";
import { pullSnapshots } from "./pull-snapshots.ts";
import { toReference, withPredecessors } from "./references.ts";
import { createDigestAlarm, type SignedSnapshot, signSnapshots } from "./sign-snapshots.ts";

/** Where fresh deliveries go. */
export interface DeliveryTaker {
  /** How many deliveries to an endpoint it takes right now. */
  roomOf(endpointId: string): number;
  /** Attempts deliveries whose leases this process holds; the payloads save it from reading them. */
  take(held: readonly HeldDelivery[], payloads: readonly Payload[]): void;
  /** There may be something due in the database. */
  wake(): void;
}

export interface IngestDeps {
  feed: Pick<Client<typeof SnapshotFeedService>, "getSnapshots" | "attachSignatures" | "acknowledgeSnapshots">;
  signing: Pick<Client<typeof SigningService>, "signSnapshots">;
  endpoints: Pick<EndpointStore, "listOf">;
  snapshots: Pick<SnapshotStore, "insert" | "stored">;
  deliveries: Pick<DeliveryStore, "insert" | "laneHeads" | "advance" | "hurry">;
  sender: DeliveryTaker;
  log: Logger;
  leaseMs: number;
}

/** Takes snapshots in; rejects when documents, the notary or MongoDB cannot be used right now. */
export type Ingest = (references: readonly Reference[], signal: AbortSignal) => Promise<Ingested>;

/** Snapshots that are on their way. */
export interface Ingested {
  /** Resolves when documents has their signatures and knows that they are taken care of. */
  readonly acknowledged: Promise<unknown>;
}

/** What AttachSignatures takes at once. */
const attachmentsMax = 256;

/**
 * From references to deliveries on their way: pull, sign, store, hand to the sender, give the signatures back, and last
 * acknowledge. Every step may be repeated, so a process that dies between two of them costs a repeat.
 */
export function createIngest(deps: IngestDeps): Ingest {
  const alarm = createDigestAlarm(deps.log);
  // No receiver waits for the last two steps: while they are under way the next snapshots are taken in.
  const giveBack = createBatcher<GivenBack, void>({
    itemsMax: attachmentsMax,
    run: (signed) => giveBackAll(deps.feed, signed),
  });
  return async (references, signal) => {
    const wanted = await withPredecessors(references, (ids) => deps.snapshots.stored(ids));
    const givenBack: Promise<unknown>[] = [];
    for await (const snapshots of pullSnapshots(deps.feed, wanted, signal)) {
      const signed = await signSnapshots({ ...deps, alarm }, snapshots, signal);
      if (signed.length === 0) continue;
      await storeAndSend(deps, signed);
      const page = Promise.all(signed.map((each) => giveBack({ attachment: toAttachment(each), signal })));
      // Reported to whoever waits for all of them, who does not yet.
      page.catch(() => {});
      givenBack.push(page);
    }
    return { acknowledged: Promise.all(givenBack) };
  };
}

interface GivenBack {
  readonly attachment: ReturnType<typeof toAttachment>;
  readonly signal: AbortSignal;
}

function toAttachment({ snapshot, signature: { keyId, statement, value } }: SignedSnapshot) {
  return { reference: toReference(snapshot), signature: { keyId, statement, value } };
}

/** All signals end with the process. */
async function giveBackAll(feed: IngestDeps["feed"], signed: readonly GivenBack[]): Promise<undefined[]> {
  const attachments = signed.map(({ attachment }) => attachment);
  const options = signed[0] ? { signal: signed[0].signal } : {};
  await feed.attachSignatures({ attachments }, options);
  await feed.acknowledgeSnapshots({ references: attachments.map(({ reference }) => reference) }, options);
  return signed.map(() => undefined);
}

/**
 * Deliveries first, payloads second: a stored payload then proves that its deliveries are, which the order of a document
 * rests on. The sender need not wait for the second: made again, a payload is the same.
 */
async function storeAndSend(deps: IngestDeps, signed: readonly SignedSnapshot[]): Promise<void> {
  const stored = signed.map(({ snapshot, signature }) => {
    const { tenantId, documentId, sequence } = snapshot;
    return { tenantId, documentId, sequence, payload: createPayload(snapshot, signature) };
  });
  const held = await storeDeliveries(deps, stored);
  const payloads = stored.map(({ payload }) => payload);
  deps.sender.take(held, payloads);
  await deps.snapshots.insert(stored, new Date());
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
  // Known already: whoever stored them may have died before the next step.
  const arrived = new Set(waiting.map(({ deliveryId }) => deliveryId));
  const behind = owed.filter(({ deliveryId, nextAttemptAt }) => nextAttemptAt > now && !arrived.has(deliveryId));
  await deps.deliveries.advance(behind, new Date());
  return held;
}
