import type { ConsumerSpec, EventBus } from "@vidimus/kit/nats/event-bus";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Reference } from "../domain/payload.ts";
import { snapshotStream } from "../snapshot-stream.ts";
import type { Ingest } from "./ingest-snapshots.ts";
import { pullMax } from "./pull-snapshots.ts";
import { parseReference } from "./references.ts";

/** The references that documents announces, in its `announce-snapshots.ts`. */
const snapshotConsumer: ConsumerSpec = {
  stream: snapshotStream,
  durable: "delivery",
  ackWaitMs: 30_000,
  batchMax: pullMax,
  // Two batches may run at once, because ingest keeps the order within a document.
  inFlightMax: 2,
};

type ConsumerLog = Pick<Logger, "debug" | "warn">;

/**
 * Ingests the references that the broker delivers. A batch that fails is left to the reconciler.
 * Were it redelivered, every message would come back every second while signing is off.
 */
export function consumeReferences(bus: Pick<EventBus, "consume">, ingest: Ingest, log: ConsumerLog): Disposable {
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
  };
  bus.consume(snapshotConsumer, { parse: parseReference, handle });
  return { [Symbol.dispose]: () => stop.abort() };
}
