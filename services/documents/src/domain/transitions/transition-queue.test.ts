import { DomainError } from "@vidimus/kit/errors";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { TransitionRequest } from "./attempt.ts";
import type { TransitionOutcome } from "./attempt.ts";
import { createTransitionQueue, type RunTransition } from "./transition-queue.ts";
import { TransactionConflict } from "./transition-transaction.ts";

function requestOf(documentId: string, name = "publish"): TransitionRequest {
  return { documentId, name, expectedVersion: 1, by: { actor: "", role: "" } };
}

function transitionedOf({ documentId }: TransitionRequest) {
  return { documentId, type: "core/article", version: 1, status: "usable", sequence: 1 };
}

/** A queue with `runBatch` as its transaction. `batches` has the document ids of each attempt. */
function queueOver(
  runBatch: (requests: readonly TransitionRequest[], attempt: number) => Promise<TransitionOutcome[]>,
  { patienceMs = 10_000, itemsMax = 4, lingerMs = 20 } = {},
) {
  const batches: string[][] = [];
  const transition = createTransitionQueue({
    itemsMax,
    patienceMs,
    lingerMs,
    runBatch: (_tenantId, requests) => {
      batches.push(requests.map(({ documentId }) => documentId));
      return runBatch(requests, batches.length);
    },
  });
  return { transition, batches };
}

describe("the queue", () => {
  test("collects what arrives during a transaction into the next one, up to itemsMax transitions", async () => {
    const { transition, batches } = queueOver(async (requests) => requests.map(transitionedOf));
    const first = transition("acme", requestOf("a"));
    await Promise.resolve();
    await Promise.all([first, ..."bcdefg".split("").map((id) => transition("acme", requestOf(id)))]);
    expect(batches).toEqual([["a"], ["b", "c", "d", "e"], ["f", "g"]]);
  });

  test("runs a single transition without waiting for a timer", async () => {
    const { transition } = queueOver(async (requests) => requests.map(transitionedOf));
    // Fake timers stand still here. If the queue waited for one, the transitions would never end.
    vi.useFakeTimers();
    try {
      for (const id of "abc") await transition("acme", requestOf(id));
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("runs the transitions of one document one by one, in the order of arrival", async () => {
    const names: string[][] = [];
    const { transition, batches } = queueOver(async (requests) => {
      names.push(requests.map(({ name }) => name));
      return requests.map(transitionedOf);
    });
    const arriving = ["a", "a", "b", "a"].map((id, at) => transition("acme", requestOf(id, `step-${at}`)));
    await Promise.all(arriving);
    expect(batches).toEqual([["a", "b"], ["a"], ["a"]]);
    expect(names).toEqual([["step-0", "step-2"], ["step-1"], ["step-3"]]);
  });

  test("runs the transitions of two tenants in separate transactions", async () => {
    const tenants: string[] = [];
    const transition = createTransitionQueue({
      runBatch: async (tenantId, requests) => {
        tenants.push(`${tenantId}:${requests.length}`);
        return requests.map(transitionedOf);
      },
    });
    await Promise.all([
      transition("a", requestOf("1")),
      transition("b", requestOf("2")),
      transition("a", requestOf("3")),
    ]);
    expect(tenants).toEqual(["a:2", "b:1"]);
  });

  test.each([
    ["all transitions in one transaction", "the clock", [["a", "b", "c", "d"]]],
    [
      "the transitions in two halves",
      "a document",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
  ])("repeats %s after a conflict at %s", async (_, conflict, repeated) => {
    const { transition, batches } = queueOver(async (requests, attempt) => {
      if (attempt === 1) throw new TransactionConflict(undefined, conflict === "the clock");
      return requests.map(transitionedOf);
    });
    await Promise.all("abcd".split("").map((id) => transition("acme", requestOf(id))));
    expect(batches.slice(1)).toEqual(repeated);
  });

  test("refuses a transition as unavailable when its conflicts last longer than patienceMs", async () => {
    const { transition } = queueOver(async () => Promise.reject(new TransactionConflict(undefined, true)), {
      patienceMs: 20,
    });
    await expect(transition("acme", requestOf("a"))).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("fails only the transition that causes an unexpected failure", async () => {
    const { transition } = queueOver(async (requests) => {
      if (requests.some(({ documentId }) => documentId === "c")) throw new TypeError("broken");
      return requests.map(transitionedOf);
    });
    const settled = await Promise.allSettled("abcd".split("").map((id) => transition("acme", requestOf(id))));
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  });

  test("rejects every transition of a transaction, without a repeat, when the database is down", async () => {
    const away = new DomainError("unavailable", "the database cannot be reached");
    const { transition, batches } = queueOver(async () => Promise.reject(away));
    const settled = await Promise.allSettled("abcd".split("").map((id) => transition("acme", requestOf(id))));
    expect(settled.every(({ status }) => status === "rejected")).toBe(true);
    expect(batches).toHaveLength(1);
  });

  test("runs what did not fit into a transaction in the next one", async () => {
    const { transition, batches } = queueOver(async (requests) =>
      requests.map((one, at) => (at === 0 ? transitionedOf(one) : undefined)),
    );
    await Promise.all("abc".split("").map((id) => transition("acme", requestOf(id))));
    expect(batches).toEqual([["a", "b", "c"], ["b", "c"], ["c"]]);
  });

  test("finishes what did not fit into a transaction before later requests", async () => {
    // A transaction takes documents in the order of their ids, as the store does, here two at a
    // time.
    const { transition, batches } = queueOver(
      async (requests) => {
        const ids = requests.map(({ documentId }) => documentId).toSorted();
        const fitting = new Set(ids.slice(0, 2));
        return requests.map((one) => (fitting.has(one.documentId) ? transitionedOf(one) : undefined));
      },
      { itemsMax: 64 },
    );
    const done = new AbortController();
    const repeat = async (id: string) => {
      while (!done.signal.aborted && batches.length < 20) await transition("acme", requestOf(id));
    };
    const repeated = ["a", "b", "c"].map(repeat);
    await transition("acme", requestOf("z"));
    done.abort();
    expect(batches.slice(0, 2)).toEqual([
      ["a", "b", "c", "z"],
      ["c", "z"],
    ]);
    await Promise.all(repeated);
  });

  test("finishes what did not fit into a transaction before later requests, even after a conflict", async () => {
    const { transition, batches } = queueOver(async (requests, attempt) => {
      if (attempt === 2) throw new TransactionConflict(undefined, true);
      return requests.map((one) => (attempt === 1 && one.documentId === "z" ? undefined : transitionedOf(one)));
    });
    const large = transition("acme", requestOf("z"));
    await transition("acme", requestOf("a"));
    await Promise.all([large, transition("acme", requestOf("b"))]);
    expect(batches).toEqual([["z", "a"], ["z"], ["z"], ["b"]]);
  });

  test("rejects a transition whose signal is aborted, and does not run it", async () => {
    const { transition, batches } = queueOver(async (requests) => requests.map(transitionedOf));
    const gone = AbortSignal.abort(new Error("gone"));
    await expect(transition("acme", requestOf("a"), gone)).rejects.toThrow("gone");
    expect(batches).toEqual([]);
  });

  describe("under load", () => {
    const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`);

    /**
     * While eight transitions run, two others come. `next` is what the callers of the eight do once
     * they are answered. Returns the number of transitions in each transaction.
     */
    async function eightThenTwo(
      lingerMs: number,
      next: (transition: RunTransition) => Promise<unknown>,
    ): Promise<number[]> {
      const sizes: number[] = [];
      let others: Promise<unknown> = Promise.resolve();
      const transition: RunTransition = createTransitionQueue({
        lingerMs,
        runBatch: async (_tenantId, requests) => {
          sizes.push(requests.length);
          if (sizes.length === 1) others = Promise.all(ids("other", 2).map((id) => transition("acme", requestOf(id))));
          return requests.map(transitionedOf);
        },
      });
      await Promise.all(ids("first", 8).map((id) => transition("acme", requestOf(id))));
      await next(transition);
      await others;
      return sizes;
    }

    test("holds waiting transitions until the callers that were just answered have come again", async () => {
      const sizes = await eightThenTwo(60_000, async (transition) => {
        await nextTurn();
        await Promise.all(ids("again", 8).map((id) => transition("acme", requestOf(id))));
      });
      expect(sizes).toEqual([8, 10]);
    });

    test("runs waiting transitions in the end when no answered caller comes again", async () => {
      expect(await eightThenTwo(1, async () => undefined)).toEqual([8, 2]);
    });

    test("does not wait for more callers after a conflict", async () => {
      const { transition, batches } = queueOver(
        async (requests, attempt) => {
          if (attempt <= 2) throw new TransactionConflict(undefined, true);
          return requests.map(transitionedOf);
        },
        { itemsMax: 64, lingerMs: 60_000 },
      );
      await Promise.all(ids("first", 20).map((id) => transition("acme", requestOf(id))));
      expect(batches.map(({ length }) => length)).toEqual([20, 20, 20]);
    });

    test("does not wait for more callers after a transaction that left transitions over", async () => {
      const { transition, batches } = queueOver(
        async (requests) => requests.map((one, at) => (at < 9 ? transitionedOf(one) : undefined)),
        { itemsMax: 64, lingerMs: 60_000 },
      );
      await Promise.all(ids("first", 20).map((id) => transition("acme", requestOf(id))));
      expect(batches.map(({ length }) => length)).toEqual([20, 11, 2]);
    });

    test("does not wait for more callers when the queue is empty", async () => {
      const { transition, batches } = queueOver(async (requests) => requests.map(transitionedOf), {
        itemsMax: 64,
        lingerMs: 60_000,
      });
      await Promise.all(ids("first", 8).map((id) => transition("acme", requestOf(id))));
      await transition("acme", requestOf("late"));
      expect(batches.flat()).toHaveLength(9);
    });
  });
});
