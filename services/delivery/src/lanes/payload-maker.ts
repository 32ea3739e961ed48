import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { setTimeout as pause } from "node:timers/promises";
import { type Payload, type Reference, snapshotKey } from "../domain/payload.ts";
import { pullMax, pullSnapshots } from "../snapshots/pull-snapshots.ts";
import { signSnapshots } from "../snapshots/sign-snapshots.ts";
import type { FreshTenants } from "./fresh-tenants.ts";

export interface PayloadMakerDeps {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "getSnapshots">;
  readonly signing: Pick<Client<typeof SigningService>, "signSnapshots">;
}

/** Makes a payload; undefined when documents lacks the snapshot, or signing does not sign it. */
export type MakePayload = (reference: Reference) => Promise<Payload | undefined>;

/** Most payloads of a batch while other tenants have just published. */
const givingWayMax = 8;
const restMsMax = 1_000;

/**
 * Makes payloads of snapshots that were ingested earlier, many at once. With batches of 256 for a
 * backlog, other tenants' webhooks took 110 to 135 ms at the median on two busy cores. So while
 * others have just published, batches are small, run one at a time, and are followed by a rest of
 * twice their duration, at most a second.
 */
export function createPayloadMaker(
  deps: PayloadMakerDeps,
  fresh: Pick<FreshTenants, "hasOthers">,
  signal: AbortSignal,
): MakePayload {
  const inTurn = createTurns();
  return createBatcher<Reference, Payload | undefined>({
    itemsMax: pullMax,
    laneOf: ({ tenantId }) => tenantId,
    inFlightMax: 2,
    lanesInFlightMax: 2,
    partialAnswers: true,
    run: ([first, ...others]) => {
      if (!first) return Promise.resolve([]);
      if (!fresh.hasOthers(first.tenantId)) return make(deps, [first, ...others], signal);
      return inTurn(() => make(deps, [first, ...others.slice(0, givingWayMax - 1)], signal));
    },
  });
}

async function make(
  deps: PayloadMakerDeps,
  references: readonly Reference[],
  signal: AbortSignal,
): Promise<(Payload | undefined)[]> {
  const made = new Map<string, Payload>();
  for await (const page of pullSnapshots(deps.feed, references, signal)) {
    for (const result of await signSnapshots(deps, page, signal)) {
      if ("payload" in result) made.set(snapshotKey(result.snapshot), result.payload);
    }
  }
  return references.map((reference) => made.get(snapshotKey(reference)));
}

function createTurns() {
  let turn: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    let tookMs = 0;
    const done = turn.then(async () => {
      const startedAt = performance.now();
      try {
        return await work();
      } finally {
        tookMs = performance.now() - startedAt;
      }
    });
    const rest = () => pause(Math.min(2 * tookMs, restMsMax), undefined, { ref: false });
    turn = done.then(rest, rest);
    return done;
  };
}
