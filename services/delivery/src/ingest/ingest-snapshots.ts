import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { tracedFor } from "@vidimus/kit/rpc/context/call-span";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { Endpoint } from "../domain/endpoint.ts";
import { type FeedSnapshot, type Reference, snapshotKey } from "../domain/payload.ts";
import type { EndpointDirectory } from "../lanes/endpoint-directory.ts";
import { type Handling, InHand, untilEnded } from "./in-hand.ts";
import { pullMax, pullSnapshots } from "../snapshots/pull-snapshots.ts";
import { createSettle } from "./settle-snapshots.ts";
import { signSnapshots, type SignResult } from "../snapshots/sign-snapshots.ts";
import { mayHaveMoreOlder, olderOf, priorOf, splitByOrder } from "./snapshot-order.ts";
import { storeDeliveries, type StoreDeliveriesDeps } from "./store-deliveries.ts";

export interface IngestDeps extends StoreDeliveriesDeps {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "getSnapshots" | "settleSnapshots">;
  readonly signing: Pick<Client<typeof SigningService>, "signSnapshots">;
  readonly directory: Pick<EndpointDirectory, "listOf">;
  /** Notes snapshots signed again after a revocation, which may have to be sent again. */
  readonly noteSignedAnew: (references: readonly Reference[]) => Promise<void>;
  readonly log: Logger;
  /** Undefined while tracing is off. */
  readonly tracing?: Tracing | undefined;
}

/**
 * Most batches at once, of a tenant with a burst or of all other tenants together: while one waits
 * for signing, the next one is read.
 */
const batchesMax = 3;
/**
 * A tenant with more snapshots than this in ingest gets batches of its own, which wait for
 * capacity at quick endpoints.
 */
const burstMin = pullMax;
/** Most batches at once of all tenants with a burst; these tenants take turns. */
const burstBatchesMax = 6;
/** Most snapshots of one group: as many as one transaction of documents makes at most. */
const groupMax = 64;

/** Snapshots of one tenant that wait for a batch together. */
interface Group {
  readonly tenantId: string;
  readonly handlings: readonly Handling[];
}

/**
 * Ingests snapshots: reads them and their tenants' endpoints, has them signed while their
 * deliveries are stored, passes these to sending, and settles the snapshots. Every step may be
 * repeated, so a process may die between any two.
 *
 * In a process, a snapshot has one ingest at a time. Its deliveries are stored after those of all
 * older pending snapshots of its document.
 */
export class Ingest {
  readonly #deps: IngestDeps;
  readonly #signal: AbortSignal;
  readonly #inHand: InHand;
  readonly #settle: ReturnType<typeof createSettle>;
  readonly #enqueueSingle: (group: Group) => Promise<void>;
  readonly #enqueueBurst: (group: Group) => Promise<void>;

  /** @param signal ends all calls when the process stops */
  constructor(deps: IngestDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.#inHand = new InHand(deps.tracing);
    this.#settle = createSettle(deps);
    const tenantOf = ({ tenantId }: Group) => tenantId;
    const sizes = { itemsMax: pullMax, bytesMax: pullMax, sizeOf: ({ handlings }: Group) => handlings.length };
    const batches = { ...sizes, inFlightMax: batchesMax };
    this.#enqueueSingle = createBatcher({ ...batches, turnOf: tenantOf, run: (groups) => this.#run(groups, false) });
    this.#enqueueBurst = createBatcher({
      ...batches,
      laneOf: tenantOf,
      lanesInFlightMax: burstBatchesMax,
      run: (groups) => this.#run(groups, true),
    });
  }

  /**
   * Ingests pending snapshots. Resolves when all are settled; those that documents does not have
   * count as settled. Rejects for example when documents, signing or MongoDB are unavailable, or
   * when signing does not accept an attestation; repeat the call then.
   */
  ingest(references: readonly Reference[]): Promise<void> {
    return untilEnded(this.#start(references));
  }

  isInHand(reference: Reference): boolean {
    return this.#inHand.has(reference);
  }

  /** Starts the ingest of snapshots that have none. @returns the handlings of all */
  #start(references: readonly Reference[]): Handling[] {
    const begun: Handling[] = [];
    const all = references.map((reference) => {
      const known = this.#inHand.get(reference);
      if (known) return known;
      const handling = this.#inHand.take(reference);
      begun.push(handling);
      return handling;
    });
    this.#goOn(begun);
    return all;
  }

  #goOn(waiting: readonly Handling[]): void {
    for (const [tenantId, own] of Map.groupBy(waiting, ({ reference }) => reference.tenantId)) {
      for (let at = 0; at < own.length; at += groupMax) {
        const handlings = own.slice(at, at + groupMax);
        this.#enqueue({ tenantId, handlings }).catch((error: unknown) => endAll(handlings, error));
      }
    }
  }

  /** Bursts have a queue of their own, so that a tenant's burst does not delay other tenants. */
  #enqueue(group: Group): Promise<void> {
    const isBurst = this.#inHand.countOf(group.tenantId) > burstMin;
    return isBurst ? this.#enqueueBurst(group) : this.#enqueueSingle(group);
  }

  /** @param mayWait whether to wait for capacity at quick endpoints; see `Sender.reserve` */
  async #run(groups: readonly Group[], mayWait: boolean): Promise<void[]> {
    const batch = groups.flatMap(({ handlings }) => handlings);
    const byKey = new Map(batch.map((handling) => [handling.key, handling]));
    const references = batch.map(({ reference }) => reference).toSorted((a, b) => a.sequence - b.sequence);
    // The endpoints are read after the reference came, so that all endpoints are found that were
    // created before the snapshot was committed.
    const endpoints = this.#deps.directory.listOf([...new Set(references.map(({ tenantId }) => tenantId))]);
    endpoints.catch(() => {});
    const trace = tracedFor(batch.map(({ traceparent }) => traceparent));
    for await (const page of pullSnapshots(this.#deps.feed, references, this.#signal, trace)) {
      const pending = page.filter(({ isPending }) => isPending).map((each) => [each, take(byKey, each)] as const);
      const { ready, early } = splitByOrder(pending, (each) => this.#inHand.get(each)?.isStored ?? false);
      for (const run of early) this.#takeInAfterOlder(run);
      if (ready.size > 0) await this.#takeIn(ready, await endpoints, mayWait);
    }
    // The remaining snapshots are settled already, or documents does not have them.
    endAll(byKey.values());
    return groups.map(() => undefined);
  }

  #takeInAfterOlder(run: readonly (readonly [FeedSnapshot, Handling])[]): void {
    const [[first] = []] = run;
    if (!first) return;
    const handlings = run.map(([, handling]) => handling);
    this.#untilOlder(first).then(
      () => this.#goOn(handlings),
      (error: unknown) => endAll(handlings, error),
    );
  }

  /** Resolves when a snapshot may be stored, or when its older snapshots must be listed again. */
  async #untilOlder(first: FeedSnapshot): Promise<void> {
    const prior = this.#inHand.get(priorOf(first));
    if (prior) return prior.stored;
    const older = this.#start(olderOf(first));
    // Further older snapshots are listed once these are settled.
    if (mayHaveMoreOlder(first)) return untilEnded(older);
    await Promise.all(older.map(({ stored }) => stored));
  }

  async #takeIn(
    handled: ReadonlyMap<FeedSnapshot, Handling>,
    endpoints: readonly Endpoint[],
    mayWait: boolean,
  ): Promise<void> {
    const snapshots = [...handled.keys()];
    for (const [{ traceparent }, handling] of handled) handling.trace(traceparent);
    const trace = tracedFor(Array.from(handled.values(), ({ traceparent }) => traceparent));
    try {
      const signed = signSnapshots(this.#deps, snapshots, this.#signal, trace);
      signed.catch(() => {});
      const sound = snapshots.filter(({ isSound }) => isSound);
      const stored = await storeDeliveries(this.#deps, { snapshots: sound, endpoints, mayWait }, signed);
      for (const handling of handled.values()) handling.noteStored();
      const results = await signed;
      await stored.send(results);
      for (const result of results) void this.#settleOne(result, handled.get(result.snapshot));
    } catch (error) {
      endAll(handled.values(), error);
      throw error;
    }
  }

  /** Runs in the background: settling delays neither the sending nor the next batch. */
  async #settleOne(result: SignResult, handling: Handling | undefined): Promise<void> {
    try {
      const isAnew = "signature" in result && result.signature.signingNumber > 1;
      if (isAnew) await this.#deps.noteSignedAnew([result.snapshot]);
      await this.#settle(result, this.#signal, handling?.traceparent);
      handling?.end();
    } catch (error) {
      handling?.end(error);
    }
  }
}

function endAll(handlings: Iterable<Handling>, error?: unknown): void {
  for (const handling of handlings) handling.end(error);
}

function take(byKey: Map<string, Handling>, snapshot: FeedSnapshot): Handling {
  const key = snapshotKey(snapshot);
  const handling = byKey.get(key);
  if (!handling) throw new TypeError("documents sent a snapshot that was not asked for");
  byKey.delete(key);
  return handling;
}
