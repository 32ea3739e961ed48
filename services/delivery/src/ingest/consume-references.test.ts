import { create, toBinary } from "@bufbuild/protobuf";
import { SnapshotReferenceSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import type { BatchHandler } from "@vidimus/kit/event-bus";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { consumeReferences } from "./consume-references.ts";
import type { Ingest, Ingested } from "./ingest-snapshots.ts";

const reference = { tenantId: "acme", documentId: "d", sequence: 1n };
const message = toBinary(SnapshotReferenceSchema, create(SnapshotReferenceSchema, reference));

/** A consumer, the broker's end of it, and the levels of what it logs. */
function consume(ingest: Ingest) {
  const levels: string[] = [];
  const note = (level: string) => () => void levels.push(level);
  const log = { debug: note("debug"), warn: note("warn"), error: note("error") };
  let deliver: BatchHandler = () => Promise.reject(new Error("nobody consumes"));
  const bus = { consume: (_spec: unknown, handle: BatchHandler) => void (deliver = handle) };
  const consumer = consumeReferences(bus, ingest, log);
  return { consumer, deliver: (batch: Uint8Array[]) => deliver(batch), levels };
}

describe("a batch", () => {
  it("that cannot be taken in is warned of", async () => {
    const { deliver, levels } = consume(() => Promise.reject(new Error("documents is away")));
    await deliver([message]);
    expect(levels).toEqual(["warn"]);
  });

  it("whose acknowledgement fails is warned of, too", async () => {
    const acknowledged = Promise.reject(new Error("documents is away"));
    const { deliver, levels } = consume(async () => ({ acknowledged }));
    await deliver([message]);
    await acknowledged.catch(() => {});
    expect(levels).toEqual(["warn"]);
  });

  it("is taken in while the one before waits to be acknowledged, and no further one is", async () => {
    const acknowledgements: PromiseWithResolvers<void>[] = [];
    const { deliver } = consume(async () => {
      const acknowledgement = Promise.withResolvers<void>();
      acknowledgements.push(acknowledgement);
      return { acknowledged: acknowledgement.promise };
    });
    await deliver([message]);
    let isTaken = false;
    const second = deliver([message]).then(() => (isTaken = true));
    await nextTurn();
    expect([acknowledgements.length, isTaken]).toEqual([2, false]);
    acknowledgements[0]?.resolve();
    await second;
  });

  it("that fails because delivery is being closed is no warning", async () => {
    const { consumer, deliver, levels } = consume((_references, signal) => {
      const { promise, reject } = Promise.withResolvers<Ingested>();
      signal.addEventListener("abort", () => reject(new Error("canceled")));
      return promise;
    });
    const delivered = deliver([message]);
    consumer[Symbol.dispose]();
    await delivered;
    expect(levels).toEqual(["debug"]);
  });
});

describe("a message that is no reference", () => {
  it("is reported, and keeps none of its batch from being taken in", async () => {
    const taken: unknown[] = [];
    const { deliver, levels } = consume(async (references) => {
      taken.push(...references);
      return { acknowledged: Promise.resolve() };
    });
    await deliver([Buffer.from([0xff]), message]);
    expect(taken).toEqual([{ ...reference, sequence: 1 }]);
    expect(levels).toEqual(["error"]);
  });
});
