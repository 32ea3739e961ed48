import { snapshotSubjects } from "@vidimus/contracts/snapshot-subject";
import type { EventBus } from "@vidimus/kit/nats/event-bus";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Reference } from "../domain/payload.ts";
import type { Ingest } from "./ingest-snapshots.ts";
import { pullMax } from "./pull-snapshots.ts";
import { parseReferences } from "./references.ts";

type ConsumerLog = Pick<Logger, "debug" | "warn">;

/** References that may wait; what comes beyond them is left to the reconciler. */
const waitingMax = 10_000;

/**
 * Ingests the references that documents announces, in its `announce-snapshots.ts`. A batch that
 * fails is left to the reconciler.
 */
export function consumeReferences(bus: Pick<EventBus, "onBroadcast">, ingest: Ingest, log: ConsumerLog): Disposable {
  const stop = new AbortController();
  const leave = (error: unknown, count: number) => {
    // A batch that is aborted because this process stops is no warning: the next process ingests
    // it.
    const level = stop.signal.aborted ? "debug" : "warn";
    log[level]({ err: error, count }, "snapshots are left to the reconciler");
  };
  let last: Promise<unknown> = Promise.resolve();
  const handle = async (references: readonly Reference[]) => {
    try {
      const { acknowledged } = await ingest(references, stop.signal);
      const handled = acknowledged.catch((error: unknown) => leave(error, references.length));
      // Wait for the acknowledgement before: one may run beside the next batch, more would pile up
      // when documents is slow.
      await last;
      last = handled;
    } catch (error) {
      leave(error, references.length);
    }
    waiting -= references.length;
    return references.map(() => undefined);
  };
  let waiting = 0;
  // Two batches may run at once, because ingest keeps the order within a document.
  const take = createBatcher<Reference, void>({ itemsMax: pullMax, inFlightMax: 2, run: handle });
  const subscription = bus.onBroadcast(snapshotSubjects, (data) => {
    const references = parseReferences(data);
    if (waiting + references.length > waitingMax) return;
    waiting += references.length;
    for (const reference of references) void take(reference);
  });
  return {
    [Symbol.dispose]() {
      subscription[Symbol.dispose]();
      stop.abort();
    },
  };
}
