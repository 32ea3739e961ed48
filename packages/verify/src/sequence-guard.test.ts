import { expect, it } from "vitest";
import { sequenceGuard } from "./verify.ts";

const snapshot = (sequence: number, documentId = "d") => ({ tenantId: "t", documentId, sequence });

/** Takes snapshots of a document in the given order. */
async function takeAll(...sequences: number[]) {
  const guard = sequenceGuard(new Map());
  const handled: number[] = [];
  const outcomes: string[] = [];
  for (const sequence of sequences) {
    outcomes.push(await guard(snapshot(sequence), () => handled.push(sequence)));
  }
  return { handled, outcomes };
}

it("the guard runs the handler for newer snapshots only", async () => {
  const { handled } = await takeAll(1, 3, 3, 2, 4);
  expect(handled).toEqual([1, 3, 4]);
});

it("the guard tells newer snapshots, repeats and older ones apart", async () => {
  const { outcomes } = await takeAll(1, 3, 3, 2, 4);
  expect(outcomes).toEqual(["newer", "newer", "same", "older", "newer"]);
});

it("the guard compares a sequence only with those of the same document and tenant", async () => {
  const guard = sequenceGuard(new Map());
  await guard(snapshot(5), () => {});
  expect(await guard(snapshot(1, "e"), () => {})).toBe("newer");
  expect(await guard({ ...snapshot(1), tenantId: "u" }, () => {})).toBe("newer");
});

it("a snapshot whose handler failed still counts as newer when it is delivered again", async () => {
  const guard = sequenceGuard(new Map());
  const failing = guard(snapshot(1), async () => {
    throw new Error("disk full");
  });
  await expect(failing).rejects.toThrow("disk full");
  expect(await guard(snapshot(1), () => {})).toBe("newer");
});

it("snapshots of a document that arrive together are handled one by one, even with a slow store", async () => {
  const kept = new Map<string, number>();
  const later = () => new Promise((resolve) => setImmediate(resolve));
  const guard = sequenceGuard({
    get: async (document) => (await later(), kept.get(document)),
    set: async (document, sequence) => (await later(), kept.set(document, sequence)),
  });
  let stored = 0;
  const outcomes = await Promise.all(
    [2, 1, 2, 3].map((sequence) => guard(snapshot(sequence), async () => (await later(), (stored = sequence)))),
  );
  expect(outcomes).toEqual(["newer", "older", "same", "newer"]);
  expect(stored).toBe(3);
});
