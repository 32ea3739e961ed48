import { expect, onTestFinished, test, vi } from "vitest";
import type { Charge, ChargeResult, Slice } from "./charge.ts";
import { WriteBudget } from "./write-budget.ts";

const rate = { count: 10, windowMs: 60_000 };

/**
 * A budget over a store in memory. The store answers a charge when `gate` opens, and leases a slice
 * of up to `sliceMax` points with it.
 */
function open({ gate = Promise.resolve(), sliceMax = 0, count = rate.count } = {}) {
  const charges: [points: number, returned?: number][] = [];
  const returnSlices = vi.fn<(slices: readonly { tenantId: string; slice: Slice }[]) => Promise<void>>(async () => {});
  let used = 0;
  let now = 0;
  const charge = async ({ points, whole, returned }: Charge): Promise<ChargeResult> => {
    charges.push(returned ? [points, returned.points] : [points]);
    await gate;
    used -= returned?.points ?? 0;
    const left = count - used;
    const granted = whole && points > left ? 0 : Math.min(points, left);
    const lent = Math.min(sliceMax, left - granted);
    used += granted + lent;
    const slice = { lease: String(charges.length), points: lent, endsAt: new Date(60_000) };
    return { granted, left: count - used, resetMs: 60_000 - now, slice };
  };
  const refund = vi.fn<(tenantId: string, points: number, endsAt: Date) => Promise<void>>(async (_, points) => {
    used -= points;
  });
  const store = { charge, refund, returnSlices };
  const onOpen = vi.fn<(error: unknown, charges: number) => void>();
  const budget = new WriteBudget({ store, rate: { ...rate, count }, onOpen, now: () => now });
  onTestFinished(() => budget[Symbol.asyncDispose]());
  const allowed = async (writes: number) => {
    const verdicts = await Promise.all(Array.from({ length: writes }, async () => budget.charge("acme")));
    return verdicts.filter((verdict) => verdict.allowed).length;
  };
  return { charges, returnSlices, store, onOpen, budget, allowed, at: (ms: number) => (now = ms) };
}

test("writes that arrive during a charge are charged together, and pass up to the budget", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { budget, charges } = open({ gate: promise });
  const first = budget.charge("acme");
  await Promise.resolve();
  const rest = Array.from({ length: 15 }, async () => budget.charge("acme"));
  resolve();
  const verdicts = await Promise.all([first, ...rest]);
  expect(charges).toEqual([[1], [15]]);
  expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(10);
});

test("the store is asked about a used-up budget once a second, and when its window has ended", async () => {
  const { allowed, budget, charges, at } = open();
  await allowed(12);
  const asked = charges.length;
  at(999);
  expect(await budget.charge("acme")).toEqual({ allowed: false, remaining: 0, resetMs: 59_001 });
  expect(await budget.chargeWhole("acme", 3)).toMatchObject({ allowed: false });
  expect(charges).toHaveLength(asked);
  at(1_000);
  expect(await budget.charge("acme")).toMatchObject({ allowed: false, remaining: 0, resetMs: 59_000 });
  expect(await budget.charge("acme")).toMatchObject({ allowed: false });
  expect(charges).toHaveLength(asked + 1);
  at(60_000);
  await budget.charge("acme");
  expect(charges).toHaveLength(asked + 2);
});

test("large writes that wait with single ones do not ask again when those find the budget used up", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { budget, charges } = open({ gate: promise });
  const first = budget.charge("acme");
  await Promise.resolve();
  const single = Array.from({ length: 12 }, async () => budget.charge("acme"));
  const large = Array.from({ length: 3 }, async () => budget.chargeWhole("acme", 3));
  resolve();
  await Promise.all([first, ...single]);
  expect((await Promise.all(large)).map(({ allowed }) => allowed)).toEqual([false, false, false]);
  expect(charges).toEqual([[1], [12]]);
});

test("refunded points can be spent at once at the gateway that charged them", async () => {
  const { budget, store, at } = open();
  await budget.charge("acme");
  const { allowed, endsAt } = await budget.chargeWhole("acme", 500);
  expect([allowed, (await budget.charge("acme")).allowed]).toEqual([true, false]);
  at(500);
  await budget.refund("acme", 4, endsAt);
  expect((await budget.chargeWhole("acme", 4)).allowed).toBe(true);
  expect((await budget.charge("acme")).allowed).toBe(false);
  expect(store.refund.mock.calls).toEqual([["acme", 4, endsAt]]);
});

test("the store gets no refund of an uncharged write, and a failed one only once", async () => {
  const { budget, store } = open();
  await budget.refund("acme", 4, undefined);
  expect(store.refund).not.toHaveBeenCalled();
  store.refund.mockRejectedValueOnce(new Error("down"));
  const { endsAt } = await budget.charge("acme");
  await budget.refund("acme", 1, endsAt);
  expect(store.refund).toHaveBeenCalledOnce();
});

test("a large write is charged whole or not at all, and never more than the whole budget", async () => {
  const { budget, charges } = open();
  await budget.charge("acme");
  await budget.charge("acme");
  expect((await budget.chargeWhole("acme", 9)).allowed).toBe(false);
  expect((await budget.chargeWhole("acme", 7.2)).allowed).toBe(true);
  const fresh = open();
  await fresh.budget.charge("acme");
  expect((await fresh.budget.chargeWhole("acme", 500)).allowed).toBe(true);
  expect([charges, fresh.charges]).toEqual([
    [[1], [1], [9], [8]],
    [[1], [9]],
  ]);
});

test("writes within a slice are answered at once, and the next charge at the store returns the slice", async () => {
  const { budget, charges } = open({ sliceMax: 20, count: 200 });
  expect(await budget.charge("acme")).toMatchObject({ allowed: true, remaining: 199 });
  for (let left = 198; left >= 196; left -= 1) {
    expect(budget.charge("acme")).toMatchObject({ allowed: true, remaining: left, resetMs: 60_000 });
  }
  expect(budget.chargeWhole("acme", 10)).toMatchObject({ allowed: true, remaining: 186 });
  expect(await budget.chargeWhole("acme", 8)).toMatchObject({ allowed: true, remaining: 178 });
  expect(charges).toEqual([[1], [8, 7]]);
});

test("writes that waited for a charge are charged to the slice that it leased", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { budget, charges } = open({ gate: promise, sliceMax: 20, count: 200 });
  const first = budget.charge("acme");
  await Promise.resolve();
  const rest = Array.from({ length: 15 }, async () => budget.charge("acme"));
  resolve();
  await Promise.all([first, ...rest]);
  expect(charges).toEqual([[1]]);
});

test("a slice is spent by one tenant only, until its window ends", async () => {
  const { budget, charges, at } = open({ sliceMax: 20, count: 200 });
  await budget.charge("acme");
  await budget.charge("rival");
  at(59_999);
  await budget.charge("acme");
  expect(charges).toEqual([[1], [1]]);
  at(60_000);
  await budget.charge("acme");
  expect(charges).toHaveLength(3);
});

test("a slice that is not used for ten seconds is returned, and every slice when the gateway stops", async () => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { budget, returnSlices, at } = open({ sliceMax: 20, count: 200 });
  await budget.charge("acme");
  await budget.charge("rival");
  await budget.charge("acme");
  at(9_000);
  await budget.charge("rival");
  at(10_000);
  vi.advanceTimersByTime(5_000);
  const acme = { tenantId: "acme", slice: { lease: "1", points: 19, endsAt: new Date(60_000) } };
  expect(returnSlices.mock.lastCall).toEqual([[acme]]);
  await budget[Symbol.asyncDispose]();
  const rival = { tenantId: "rival", slice: { lease: "2", points: 19, endsAt: new Date(60_000) } };
  expect(returnSlices.mock.lastCall).toEqual([[rival]]);
});

test("writes pass while the store fails or does not answer, and each one beyond the slice is reported", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const onOpen = vi.fn<(error: unknown) => void>();
  const slice = { lease: "a", points: 2, endsAt: new Date(60_000) };
  const charge = vi
    .fn<(charge: Charge) => Promise<ChargeResult>>()
    .mockResolvedValueOnce({ granted: 1, left: 5, resetMs: 60_000, slice })
    .mockRejectedValueOnce(new Error("down"))
    .mockReturnValueOnce(new Promise(() => {}));
  const budget = new WriteBudget({
    store: { charge, refund: async () => {}, returnSlices: async () => {} },
    rate,
    onOpen,
  });
  for (let count = 0; count < 3; count += 1) expect((await budget.charge("acme")).allowed).toBe(true);
  expect(onOpen).not.toHaveBeenCalled();
  expect((await budget.charge("acme")).allowed).toBe(true);
  const silent = budget.charge("acme");
  await vi.advanceTimersByTimeAsync(500);
  expect((await silent).allowed).toBe(true);
  expect(onOpen).toHaveBeenCalledTimes(2);
  // The failed charge may have taken the slice back, so the slice is not spent again.
  expect(charge.mock.calls.map(([{ returned }]) => returned?.lease)).toEqual([undefined, "a", undefined]);
});

test("a failure of the store is reported with how many charges it lets pass", async () => {
  const { budget, store, onOpen } = open();
  vi.spyOn(store, "charge").mockRejectedValue(new Error("down"));
  const first = budget.charge("acme");
  await Promise.resolve();
  const rest = Array.from({ length: 15 }, async () => budget.charge("acme"));
  await Promise.all([first, ...rest, budget.chargeWhole("acme", 9)]);
  expect(onOpen.mock.calls.map(([, charges]) => charges)).toEqual([1, 15, 1]);
});
