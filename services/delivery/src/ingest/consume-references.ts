import { fromBinary } from "@bufbuild/protobuf";
import { SnapshotReferenceSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import type { ConsumerSpec, EventBus } from "@vidimus/kit/event-bus";
import type { Logger } from "@vidimus/kit/log";
import type { Reference } from "../domain/payload.ts";
import { snapshotStream } from "../snapshot-stream.ts";
import type { Ingest } from "./ingest-snapshots.ts";
import { pullMax } from "./pull-snapshots.ts";
import { fromReference } from "./references.ts";

/** The references that documents' relay publishes. */
const snapshotConsumer: ConsumerSpec = {
  stream: snapshotStream,
  durable: "delivery",
  ackWaitMs: 30_000,
  batchMax: pullMax,
  // Intake keeps the order within a document by itself.
  inFlightMax: 2,
};

type ConsumerLog = Pick<Logger, "debug" | "warn" | "error">;

/**
 * Takes in what the broker tells of. A batch that cannot be taken in right now is left to the reconciler, at its pace:
 * with signing off, every message would come back every second for ever.
 */
export function consumeReferences(bus: Pick<EventBus, "consume">, ingest: Ingest, log: ConsumerLog): Disposable {
  const stop = new AbortController();
  const leave = (error: unknown, count: number) => {
    // Who is closed at work has nothing to warn of: the next process begins with what is left.
    const level = stop.signal.aborted ? "debug" : "warn";
    log[level]({ err: error, count }, "snapshots are left to the reconciler");
  };
  let last: Promise<unknown> = Promise.resolve();
  bus.consume(snapshotConsumer, async (batch) => {
    const references = batch.flatMap((bytes) => decode(bytes, log));
    try {
      const { acknowledged } = await ingest(references, stop.signal);
      const settled = acknowledged.catch((error: unknown) => leave(error, references.length));
      // An acknowledgement runs beside the next batch; more would pile up when documents is slow.
      await last;
      last = settled;
    } catch (error) {
      leave(error, references.length);
    }
  });
  return { [Symbol.dispose]: () => stop.abort() };
}

function decode(bytes: Uint8Array, log: ConsumerLog): Reference[] {
  try {
    return [fromReference(fromBinary(SnapshotReferenceSchema, bytes))];
  } catch (error) {
    log.error({ err: error }, "not a snapshot reference");
    return [];
  }
}
