import type { BatchHandler } from "@vidimus/kit/nats/event-bus";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { consumeReferences } from "./consume-references.ts";
import type { Reference } from "../domain/payload.ts";
import type { Ingest, Ingested } from "./ingest-snapshots.ts";

const reference: Reference = { tenantId: "acme", documentId: "d", sequence: 1 };

/** A consumer, a function that delivers batches to it, and the levels of its log lines. */
function consume(ingest: Ingest) {
  const levels: string[] = [];
  const note = (level: string) => () => void levels.push(level);
  const log = { debug: note("debug"), warn: note("warn") };
  let deliver: BatchHandler<Reference>["handle"] = () => Promise.reject(new Error("there is no consumer"));
  // `consume` is generic in the message's type.
  const consumeAny = (_spec: unknown, handler: BatchHandler<never>) => void (deliver = handler.handle);
  const consumer = consumeReferences({ consume: consumeAny }, ingest, log);
  return { consumer, deliver: (batch: Reference[]) => deliver(batch), levels };
}

describe("a batch", () => {
  it("that cannot be ingested is logged as a warning", async () => {
    const { deliver, levels } = consume(() => Promise.reject(new Error("documents is away")));
    await deliver([reference]);
    expect(levels).toEqual(["warn"]);
  });

  it("whose acknowledgement fails is logged as a warning", async () => {
    const acknowledged = Promise.reject(new Error("documents is away"));
    const { deliver, levels } = consume(async () => ({ acknowledged }));
    await deliver([reference]);
    await acknowledged.catch(() => {});
    expect(levels).toEqual(["warn"]);
  });

  it("is ingested while the one before is being acknowledged, but not a third one", async () => {
    const acknowledgements: PromiseWithResolvers<void>[] = [];
    const { deliver } = consume(async () => {
      const acknowledgement = Promise.withResolvers<void>();
      acknowledgements.push(acknowledgement);
      return { acknowledged: acknowledgement.promise };
    });
    await deliver([reference]);
    let isTaken = false;
    const second = deliver([reference]).then(() => (isTaken = true));
    await nextTurn();
    expect([acknowledgements.length, isTaken]).toEqual([2, false]);
    acknowledgements[0]?.resolve();
    await second;
  });

  it("that fails because delivery stops is no warning", async () => {
    const { consumer, deliver, levels } = consume((_references, signal) => {
      const { promise, reject } = Promise.withResolvers<Ingested>();
      signal.addEventListener("abort", () => reject(new Error("canceled")));
      return promise;
    });
    const delivered = deliver([reference]);
    consumer[Symbol.dispose]();
    await delivered;
    expect(levels).toEqual(["debug"]);
  });
});
