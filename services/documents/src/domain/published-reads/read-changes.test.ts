import * as fc from "fast-check";
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { ChangeSignal } from "./change-signal.ts";
import type { PublicationState } from "./published-document.ts";
import { type ListPublishedChangesDeps, readChanges } from "./read-changes.ts";

const never = new AbortController().signal;
const ids = Array.from({ length: 6 }, () => randomUUID());
const typeOf = (at: number) => (at < 2 ? "core/tag" : "core/article");

/**
 * One transaction, as indexes of `ids`: it publishes each document that is not published, and
 * withdraws each that is.
 */
type Commit = readonly number[];

/**
 * A tenant's publications and clock. A step of `schedule` changes them before each read, and
 * another one after it.
 */
function newsroom(schedule: readonly (readonly Commit[])[]) {
  const rows = new Map<string, PublicationState>();
  const types: Record<string, Date> = {};
  let tick = 0;
  const rest = schedule.values();
  let asked = 0;
  /** Where each listing began. */
  const listedAfter: Date[] = [];

  function commit(changed: Commit): void {
    tick += 1;
    for (const at of new Set(changed)) {
      const documentId = ids[at]!;
      const before = rows.get(documentId);
      const bytes = before?.bytes ? {} : { bytes: Buffer.from(`{"tick":${tick}}`), linksStart: 0, linksEnd: 0 };
      const sequence = (before?.sequence ?? 0) + 1;
      const updatedAt = new Date(tick);
      rows.set(documentId, { documentId, type: typeOf(at), version: 1, sequence, updatedAt, ...bytes });
      types[typeOf(at)] = updatedAt;
    }
  }

  async function lookAway(): Promise<void> {
    for (const changed of rest.next().value ?? []) if (changed.length > 0) commit(changed);
  }

  const deps: ListPublishedChangesDeps = {
    changeSignal: new ChangeSignal(),
    clocks: {
      read: async () => {
        asked += 1;
        await lookAway();
        const found = { ...(tick === 0 ? {} : { tick: new Date(tick) }), types: { ...types } };
        await lookAway();
        return found;
      },
    },
    publications: {
      listChanges: async (_tenantId, { types: wanted, after, began: withdrawnSince, limit }) => {
        listedAfter.push(after.updatedAt);
        await lookAway();
        const positionOf = (row: { updatedAt: Date; documentId: string }) =>
          `${row.updatedAt.toISOString()} ${row.documentId}`;
        const found = [...rows.values()]
          .filter((row) => wanted.includes(row.type) && positionOf(row) > positionOf(after))
          .filter((row) => row.bytes || row.updatedAt > withdrawnSince)
          .toSorted((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
        await lookAway();
        return { changes: found.slice(0, limit), hasMore: found.length > limit };
      },
    },
  };
  const published = (type: string) =>
    [...rows.values()].filter((row) => row.bytes && (type === "" || row.type === type)).map((row) => row.documentId);
  return { deps, published, counts: () => ({ asked, listed: listedAfter.length }), listedAfter };
}

interface Change {
  id: string;
  change: "upsert" | "withdraw";
}

/**
 * Follows the feed for `polls` requests, and then until an answer is empty. Returns the ids of the
 * documents that the answers leave.
 */
async function mirror(deps: ListPublishedChangesDeps, type: string, polls: number): Promise<string[]> {
  const copy = new Set<string>();
  let since = "";
  for (let at = 0, isOver = false; !isOver; at += 1) {
    const answer = await readChanges(deps, "acme", { since, type, limit: 2, waitMs: 0 }, never);
    const items: Change[] = JSON.parse(Buffer.from(answer.itemsJson).toString());
    for (const { id, change } of items) {
      if (change === "upsert") copy.add(id);
      else copy.delete(id);
    }
    since = answer.since;
    isOver = at >= polls && items.length === 0;
  }
  return [...copy];
}

const commits = fc.array(fc.array(fc.nat(ids.length - 1), { maxLength: 3 }), { maxLength: 2 });

test("a reader that follows every token, also of empty answers, ends with the documents that are published", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(commits, { maxLength: 60 }), fc.constantFrom("", "core/tag"), async (schedule, type) => {
      const { deps, published } = newsroom(schedule);
      const copy = await mirror(deps, type, schedule.length);
      expect(copy.toSorted()).toEqual(published(type).toSorted());
    }),
    { numRuns: 1_000 },
  );
});

test("a reader that has all changes of a type costs only clock reads while another type changes", async () => {
  const { deps, counts } = newsroom([[[0]], ...Array.from({ length: 50 }, () => [[3], [4, 5]])]);
  await mirror(deps, "core/tag", 20);
  expect(counts()).toEqual({ asked: 21, listed: 1 });
});

test("a listing begins after the changes of other types that an empty answer has passed over", async () => {
  const [tag, article] = [[[0]], [[3]]];
  const { deps, listedAfter } = newsroom([tag, [], [], [], article, [], tag]);
  await mirror(deps, "core/tag", 2);
  expect(listedAfter.map(Number)).toEqual([0, 2]);
});
