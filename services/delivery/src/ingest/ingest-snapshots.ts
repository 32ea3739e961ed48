import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { tracedFor } from "@vidimus/kit/rpc/call-span";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import type { Endpoint } from "../domain/endpoint.ts";
import { type FeedSnapshot, type Reference, snapshotKey } from "../domain/payload.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { type Handling, InHand } from "./in-hand.ts";
import { pullMax, pullSnapshots } from "./pull-snapshots.ts";
import { createSettle } from "./settle-snapshots.ts";
import { signSnapshots, type SignResult } from "./sign-snapshots.ts";
import { mayHaveMoreOlder, olderOf, priorOf, splitByOrder } from "./snapshot-order.ts";
import { storeDeliveries, type StoreDeliveriesDeps } from "./store-deliveries.ts";

export interface IngestDeps extends StoreDeliveriesDeps {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "getSnapshots" | "settleSnapshots">;
  readonly signing: Pick<Client<typeof SigningService>, "signSnapshots">;
  readonly endpoints: Pick<EndpointStore, "listOf">;
  /** Notes snapshots that were signed before, with a key that was revoked since. */
  readonly noteSignedAnew: (references: readonly Reference[]) => Promise<void>;
  readonly log: Logger;
  /** Undefined while tracing is off. */
  readonly tracing?: Tracing | undefined;
}

/** Most batches at once. While one waits for signing, the next one is read. */
const batchesMax = 3;
/** From so many snapshots in hand on, a tenant's go in batches of its own, which wait for room. */
const burstMin = pullMax;
/** Most batches at once of all tenants with a burst; they take turns. */
const burstBatchesMax = 6;

/**
 * Takes snapshots in: reads them and their tenant's endpoints, has them signed while their
 * deliveries are stored, hands these over to sending, and settles the snapshots meanwhile. Every
 * step may be repeated, so a process may die between any two.
 *
 * A snapshot is taken in once at a time, and after all older pending ones of its document.
 */
export class Ingest {
  readonly #deps: IngestDeps;
  readonly #signal: AbortSignal;
  readonly #inHand: InHand;
  readonly #settle: ReturnType<typeof createSettle>;
  readonly #enqueueSingle: (handling: Handling) => Promise<void>;
  readonly #enqueueBurst: (handling: Handling) => Promise<void>;

  /** @param signal ends all calls, when the process stops */
  constructor(deps: IngestDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.#inHand = new InHand(deps.tracing);
    this.#settle = createSettle(deps);
    const tenantOf = ({ reference }: Handling) => reference.tenantId;
    const batches = { itemsMax: pullMax, inFlightMax: batchesMax };
    this.#enqueueSingle = createBatcher({ ...batches, turnOf: tenantOf, run: (batch) => this.#run(batch, false) });
    this.#enqueueBurst = createBatcher({
      ...batches,
      laneOf: tenantOf,
      lanesInFlightMax: burstBatchesMax,
      run: (batch) => this.#run(batch, true),
    });
  }

  /**
   * Takes in snapshots that are pending. Resolves when all are settled. Rejects when documents,
   * signing or MongoDB cannot be used right now; call it again then.
   */
  async ingest(references: readonly Reference[]): Promise<void> {
    const all = await Promise.allSettled(references.map((reference) => this.#start(reference)));
    const failed = all.find((each) => each.status === "rejected");
    if (failed) throw failed.reason;
  }

  /** Whether this process is taking a snapshot in. */
  isInHand(reference: Reference): boolean {
    return this.#inHand.has(reference);
  }

  #start(reference: Reference): Promise<void> {
    const known = this.#inHand.get(reference);
    if (known) return known.settled;
    const handling = this.#inHand.take(reference);
    this.#goOn(handling);
    return handling.settled;
  }

  #goOn(handling: Handling): void {
    this.#enqueue(handling).catch((error: unknown) => handling.end(error));
  }

  /** A tenant that has published much at once keeps no other one waiting. */
  #enqueue(handling: Handling): Promise<void> {
    const isBurst = this.#inHand.countOf(handling.reference.tenantId) > burstMin;
    return isBurst ? this.#enqueueBurst(handling) : this.#enqueueSingle(handling);
  }

  /** @param mayWait whether it waits for room at endpoints that are quick */
  async #run(batch: readonly Handling[], mayWait: boolean): Promise<void[]> {
    const byKey = new Map(batch.map((handling) => [handling.key, handling]));
    const references = batch.map(({ reference }) => reference).toSorted((a, b) => a.sequence - b.sequence);
    // The endpoints are read after the reference came, so that none is missed that was created
    // before the snapshot was committed.
    const endpoints = this.#deps.endpoints.listOf([...new Set(references.map(({ tenantId }) => tenantId))]);
    endpoints.catch(() => {});
    const trace = tracedFor(batch.map(({ traceparent }) => traceparent));
    for await (const page of pullSnapshots(this.#deps.feed, references, this.#signal, trace)) {
      const pending = page.filter(({ isPending }) => isPending).map((each) => [each, take(byKey, each)] as const);
      const { ready, early } = splitByOrder(pending, (each) => this.#inHand.get(each)?.isStored ?? false);
      for (const run of early) this.#takeInAfterOlder(run);
      if (ready.size > 0) await this.#takeIn(ready, await endpoints, mayWait);
    }
    // These are settled, or documents does not know them.
    for (const handling of byKey.values()) handling.end();
    return batch.map(() => undefined);
  }

  #takeInAfterOlder(run: readonly (readonly [FeedSnapshot, Handling])[]): void {
    const [[first] = []] = run;
    if (!first) return;
    this.#untilOlder(first).then(
      () => run.forEach(([, handling]) => this.#goOn(handling)),
      (error: unknown) => run.forEach(([, handling]) => handling.end(error)),
    );
  }

  /** Resolves when a snapshot may be stored, or when there is more to be known of what is older. */
  async #untilOlder(first: FeedSnapshot): Promise<void> {
    const prior = this.#inHand.get(priorOf(first));
    if (prior) return prior.stored;
    const older = olderOf(first);
    for (const each of older) this.#start(each).catch(() => {});
    // The others are listed once these are settled.
    const awaited = mayHaveMoreOlder(first) ? ("settled" as const) : ("stored" as const);
    await Promise.all(older.flatMap((each) => this.#inHand.get(each)?.[awaited] ?? []));
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
      for (const handling of handled.values()) handling.end(error);
      throw error;
    }
  }

  /** Receivers do not wait for it, nor do the next snapshots. */
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

/** Removes and returns a snapshot's handling. */
function take(byKey: Map<string, Handling>, snapshot: FeedSnapshot): Handling {
  const key = snapshotKey(snapshot);
  const handling = byKey.get(key);
  if (!handling) throw new TypeError("documents sent a snapshot that was not asked for");
  byKey.delete(key);
  return handling;
}
