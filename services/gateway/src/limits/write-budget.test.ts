import { expect, test, vi } from "vitest";
import type { ChargeResult } from "../store/write-budget-store.ts";
import { WriteBudget } from "./write-budget.ts";

const rate = { count: 10, windowMs: 60_000 };

/** A budget over a store in memory, which answers when `gate` opens. */
function open(gate: Promise<void> = Promise.resolve()) {
  const charges: number[] = [];
  let used = 0;
  const charge = async (_: string, points: number, { count }: typeof rate, whole: boolean): Promise<ChargeResult> => {
    charges.push(points);
    await gate;
    const left = count - used;
    const granted = whole && points > left ? 0 : Math.min(points, left);
    used += granted;
    return { granted, remaining: count - used, resetMs: 60_000 };
  };
  return { charges, budget: new WriteBudget({ store: { charge }, rate, onOpen: () => {} }) };
}

test("writes that arrive while a charge is under way are charged together, and exactly", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { budget, charges } = open(promise);
  const first = budget.charge("acme");
  await Promise.resolve();
  const rest = Array.from({ length: 15 }, () => budget.charge("acme"));
  resolve();
  const verdicts = await Promise.all([first, ...rest]);
  expect(charges).toEqual([1, 15]);
  expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(10);
});

test("a budget that is used up is not asked for again before its window ends", async () => {
  const { budget, charges } = open();
  await Promise.all(Array.from({ length: 12 }, () => budget.charge("acme")));
  const asked = charges.length;
  expect(await budget.charge("acme")).toMatchObject({ allowed: false, remaining: 0 });
  expect(charges).toHaveLength(asked);
});

test("a large write is charged whole or not at all, and with its first point never more than the budget", async () => {
  const { budget, charges } = open();
  await budget.charge("acme");
  await budget.charge("acme");
  expect((await budget.chargeWhole("acme", 9)).allowed).toBe(false);
  expect((await budget.chargeWhole("acme", 7.2)).allowed).toBe(true);
  const fresh = open();
  await fresh.budget.charge("acme");
  expect((await fresh.budget.chargeWhole("acme", 500)).allowed).toBe(true);
  expect([charges, fresh.charges]).toEqual([
    [1, 1, 9, 8],
    [1, 9],
  ]);
});

test("a store that fails or does not answer lets writes pass, and it is told", async () => {
  vi.useFakeTimers();
  try {
    const onOpen = vi.fn<(error: unknown) => void>();
    const charge = vi
      .fn<() => Promise<ChargeResult>>()
      .mockRejectedValueOnce(new Error("down"))
      .mockReturnValueOnce(new Promise(() => {}));
    const budget = new WriteBudget({ store: { charge }, rate, onOpen });
    expect((await budget.charge("acme")).allowed).toBe(true);
    const silent = budget.charge("acme");
    await vi.advanceTimersByTimeAsync(500);
    expect((await silent).allowed).toBe(true);
    expect(onOpen).toHaveBeenCalledTimes(2);
  } finally {
    vi.useRealTimers();
  }
});
