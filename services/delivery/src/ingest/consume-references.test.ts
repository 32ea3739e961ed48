import { create, toBinary } from "@bufbuild/protobuf";
import { SnapshotReferenceSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import type { BatchHandler } from "@vidimus/kit/event-bus";
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

describe("a batch that cannot be taken in", () => {
  it("is warned of", async () => {
    const { deliver, levels } = consume(() => Promise.reject(new Error("documents is away")));
    await deliver([message]);
    expect(levels).toEqual(["warn"]);
  });

  it("is warned of, too, when only its acknowledgement fails", async () => {
    const acknowledged = Promise.reject(new Error("documents is away"));
    const { deliver, levels } = consume(async () => ({ acknowledged }));
    await deliver([message]);
    await acknowledged.catch(() => {});
    expect(levels).toEqual(["warn"]);
  });

  it("because delivery is being closed is no warning", async () => {
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
