import { DomainError } from "@vidimus/kit/errors";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Move, Outcome } from "./move-documents.ts";
import { createTransitionQueue, type MoveDocument } from "./transition-queue.ts";
import { TransactionConflict } from "./transition-transaction.ts";

function moveOf(documentId: string, name = "publish"): Move {
  return { documentId, name, expectedVersion: 1, by: { actor: "", role: "" } };
}

function movedOf({ documentId }: Move) {
  return { documentId, version: 1, status: "usable", sequence: 1 };
}

/** A queue over a transaction that is told what to do; `batches` are the documents of each attempt. */
function queueOver(
  transact: (moves: readonly Move[], attempt: number) => Promise<Outcome[]>,
  { patienceMs = 10_000, itemsMax = 4, lingerMs = 20 } = {},
) {
  const batches: string[][] = [];
  const move = createTransitionQueue({
    itemsMax,
    patienceMs,
    lingerMs,
    transact: (_tenantId, moves) => {
      batches.push(moves.map(({ documentId }) => documentId));
      return transact(moves, batches.length);
    },
  });
  return { move, batches };
}

describe("the queue", () => {
  test("collects what arrives during a transaction into the next one, at most as many as it may", async () => {
    const { move, batches } = queueOver(async (moves) => moves.map(movedOf));
    const first = move("acme", moveOf("a"));
    await Promise.resolve();
    await Promise.all([first, ..."bcdefg".split("").map((id) => move("acme", moveOf(id)))]);
    expect(batches).toEqual([["a"], ["b", "c", "d", "e"], ["f", "g"]]);
  });

  test("takes each document once a transaction, in the order of arrival", async () => {
    const { move, batches } = queueOver(async (moves) => moves.map(movedOf));
    await Promise.all(["a", "a", "b", "a"].map((id) => move("acme", moveOf(id))));
    expect(batches).toEqual([["a", "b"], ["a"], ["a"]]);
  });

  test("never mixes tenants", async () => {
    const tenants: string[] = [];
    const move = createTransitionQueue({
      transact: async (tenantId, moves) => {
        tenants.push(`${tenantId}:${moves.length}`);
        return moves.map(movedOf);
      },
    });
    await Promise.all([move("a", moveOf("1")), move("b", moveOf("2")), move("a", moveOf("3"))]);
    expect(tenants).toEqual(["a:2", "b:1"]);
  });

  test("tries again after a conflict: the same moves when it met the clock, half of them when a document is to blame", async () => {
    for (const [atClock, second] of [
      [true, ["a", "b", "c", "d"]],
      [false, ["a", "b"]],
    ] as const) {
      const { move, batches } = queueOver(async (moves, attempt) => {
        if (attempt === 1) throw new TransactionConflict(undefined, atClock);
        return moves.map(movedOf);
      });
      await Promise.all("abcd".split("").map((id) => move("acme", moveOf(id))));
      expect(batches[1]).toEqual(second);
      expect(batches.slice(1).flat()).toEqual(["a", "b", "c", "d"]);
    }
  });

  test("tells a caller who loses for too long to try again", async () => {
    const { move } = queueOver(async () => Promise.reject(new TransactionConflict(undefined, true)), {
      patienceMs: 20,
    });
    await expect(move("acme", moveOf("a"))).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("pins an unexpected fault on the one move that causes it", async () => {
    const { move } = queueOver(async (moves) => {
      if (moves.some(({ documentId }) => documentId === "c")) throw new TypeError("broken");
      return moves.map(movedOf);
    });
    const settled = await Promise.allSettled("abcd".split("").map((id) => move("acme", moveOf(id))));
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  });

  test("fails everybody at once when the database is away", async () => {
    const away = new DomainError("unavailable", "the database cannot be reached");
    const { move, batches } = queueOver(async () => Promise.reject(away));
    const settled = await Promise.allSettled("abcd".split("").map((id) => move("acme", moveOf(id))));
    expect(settled.every(({ status }) => status === "rejected")).toBe(true);
    expect(batches).toHaveLength(1);
  });

  test("takes up again what a transaction had no room for", async () => {
    const { move, batches } = queueOver(async (moves) => moves.map((one, at) => (at === 0 ? movedOf(one) : undefined)));
    await Promise.all("abc".split("").map((id) => move("acme", moveOf(id))));
    expect(batches).toEqual([["a", "b", "c"], ["b", "c"], ["c"]]);
  });

  test("does not move for callers who have gone", async () => {
    const { move, batches } = queueOver(async (moves) => moves.map(movedOf));
    const gone = AbortSignal.abort(new Error("gone"));
    await expect(move("acme", moveOf("a"), gone)).rejects.toThrow("gone");
    expect(batches).toEqual([]);
  });

  describe("under load", () => {
    const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`);

    /** Eight are moved; while they are, two others come. What the eight do then is `next`. */
    async function eightThenTwo(lingerMs: number, next: (move: MoveDocument) => Promise<unknown>): Promise<number[]> {
      const sizes: number[] = [];
      let others: Promise<unknown> = Promise.resolve();
      const move: MoveDocument = createTransitionQueue({
        lingerMs,
        transact: async (_tenantId, moves) => {
          sizes.push(moves.length);
          if (sizes.length === 1) others = Promise.all(ids("other", 2).map((id) => move("acme", moveOf(id))));
          return moves.map(movedOf);
        },
      });
      await Promise.all(ids("first", 8).map((id) => move("acme", moveOf(id))));
      await next(move);
      await others;
      return sizes;
    }

    test("those who wait are kept a moment for callers who come again", async () => {
      const sizes = await eightThenTwo(60_000, async (move) => {
        await nextTurn();
        await Promise.all(ids("again", 8).map((id) => move("acme", moveOf(id))));
      });
      expect(sizes).toEqual([8, 10]);
    });

    test("and no longer than a moment, when they do not", async () => {
      expect(await eightThenTwo(1, async () => undefined)).toEqual([8, 2]);
    });

    test("nobody is waited for after a conflict, or when a transaction had no room for all", async () => {
      const twoAtATime = queueOver(
        async (moves, attempt) => {
          if (attempt <= 2) throw new TransactionConflict(undefined, true);
          return moves.map((one, at) => (at < 9 ? movedOf(one) : undefined));
        },
        { itemsMax: 64, lingerMs: 60_000 },
      );
      await Promise.all(ids("first", 20).map((id) => twoAtATime.move("acme", moveOf(id))));
      expect(twoAtATime.batches.map(({ length }) => length)).toEqual([20, 20, 20, 11, 2]);
    });

    test("nobody is waited for when nobody waits", async () => {
      const { move, batches } = queueOver(async (moves) => moves.map(movedOf), { itemsMax: 64, lingerMs: 60_000 });
      await Promise.all(ids("first", 8).map((id) => move("acme", moveOf(id))));
      await move("acme", moveOf("late"));
      expect(batches.flat()).toHaveLength(9);
    });
  });
});
