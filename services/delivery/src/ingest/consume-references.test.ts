import { create, toBinary } from "@bufbuild/protobuf";
import { SnapshotReferencesSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { consumeReferences } from "./consume-references.ts";
import type { Ingest, Ingested } from "./ingest-snapshots.ts";

const references = [{ tenantId: "acme", documentId: "01890000-0000-7000-8000-00000000beef", sequence: 1n }];
const message = toBinary(SnapshotReferencesSchema, create(SnapshotReferencesSchema, { references }));

/** A consumer, a function that delivers a message to it, and the levels of its log lines. */
function consume(ingest: Ingest) {
  const levels: string[] = [];
  const note = (level: string) => () => void levels.push(level);
  const log = { debug: note("debug"), warn: note("warn") };
  let hear: (data: Uint8Array) => void = () => {};
  const onBroadcast = (_subject: string, handle: typeof hear) => {
    hear = handle;
    return { [Symbol.dispose]: () => {} };
  };
  const consumer = consumeReferences({ onBroadcast }, ingest, log);
  const deliver = async () => {
    hear(message);
    await nextTurn();
  };
  return { consumer, deliver, levels };
}

describe("a batch", () => {
  it("that cannot be ingested is logged as a warning", async () => {
    const { deliver, levels } = consume(() => Promise.reject(new Error("documents is away")));
    await deliver();
    expect(levels).toEqual(["warn"]);
  });

  it("whose acknowledgement fails is logged as a warning", async () => {
    const { deliver, levels } = consume(async () => ({ acknowledged: Promise.reject(new Error("documents is away")) }));
    await deliver();
    expect(levels).toEqual(["warn"]);
  });

  it("is ingested while two are being acknowledged, but not a third one", async () => {
    const acknowledgements: PromiseWithResolvers<void>[] = [];
    const { deliver } = consume(async () => {
      const acknowledgement = Promise.withResolvers<void>();
      acknowledgements.push(acknowledgement);
      return { acknowledged: acknowledgement.promise };
    });
    for (let count = 0; count < 5; count++) await deliver();
    expect(acknowledgements).toHaveLength(3);
    acknowledgements[0]?.resolve();
    await nextTurn();
    expect(acknowledgements.length).toBeGreaterThan(3);
  });

  it("that fails because delivery stops is no warning", async () => {
    const { consumer, deliver, levels } = consume((_references, signal) => {
      const { promise, reject } = Promise.withResolvers<Ingested>();
      signal.addEventListener("abort", () => reject(new Error("canceled")));
      return promise;
    });
    await deliver();
    consumer[Symbol.dispose]();
    await nextTurn();
    expect(levels).toEqual(["debug"]);
  });
});
