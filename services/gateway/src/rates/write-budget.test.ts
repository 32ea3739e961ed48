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

/** Makes a write, and 15 more while it is being charged. */
async function burst(options: { sliceMax?: number; count?: number } = {}) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { budget, charges } = open({ ...options, gate: promise });
  const first = budget.charge("acme");
  await Promise.resolve();
  const rest = Array.from({ length: 15 }, async () => budget.charge("acme"));
  resolve();
  return { charges, verdicts: await Promise.all([first, ...rest]) };
}

test("writes that arrive during a charge are charged together", async () => {
  expect((await burst()).charges).toEqual([[1], [15]]);
});

test("of writes that are charged together as many pass as the budget has points", async () => {
  const { verdicts } = await burst();
  expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(10);
});

test("the store is asked about a used-up budget only once a second", async () => {
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
});

test("the store is asked about a used-up budget as soon as its window has ended", async () => {
  const { allowed, budget, charges, at } = open();
  await allowed(12);
  at(59_500);
  await budget.charge("acme");
  const asked = charges.length;
  at(59_999);
  await budget.charge("acme");
  expect(charges).toHaveLength(asked);
  at(60_000);
  await budget.charge("acme");
  expect(charges).toHaveLength(asked + 1);
});

test("waiting large writes are refused without the store when single writes found the budget used up", async () => {
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

test("the store gets no refund of an uncharged write", async () => {
  const { budget, store } = open();
  await budget.refund("acme", 4, undefined);
  expect(store.refund).not.toHaveBeenCalled();
});

test("a refund that fails at the store is not repeated", async () => {
  const { budget, store } = open();
  store.refund.mockRejectedValueOnce(new Error("down"));
  const { endsAt } = await budget.charge("acme");
  await budget.refund("acme", 1, endsAt);
  expect(store.refund).toHaveBeenCalledOnce();
});

test("a large write is charged whole or not at all", async () => {
  const { budget, charges } = open();
  await budget.charge("acme");
  await budget.charge("acme");
  expect((await budget.chargeWhole("acme", 9)).allowed).toBe(false);
  expect((await budget.chargeWhole("acme", 8)).allowed).toBe(true);
  expect(charges).toEqual([[1], [1], [9], [8]]);
});

test("a write larger than an unused budget passes and costs the whole budget", async () => {
  const { budget, charges } = open();
  await budget.charge("acme");
  expect((await budget.chargeWhole("acme", 500)).allowed).toBe(true);
  expect(charges).toEqual([[1], [9]]);
});

test("a part of a point is charged as a point", async () => {
  const { budget, charges } = open();
  await budget.chargeWhole("acme", 7.2);
  expect(charges).toEqual([[8]]);
});

/** A budget that holds a slice of 20 points. */
async function withSlice() {
  const opened = open({ sliceMax: 20, count: 200 });
  expect(await opened.budget.charge("acme")).toMatchObject({ allowed: true, remaining: 199 });
  return opened;
}

test("writes within a slice are answered synchronously, without the store", async () => {
  const { budget, charges } = await withSlice();
  for (let left = 198; left >= 196; left -= 1) {
    expect(budget.charge("acme")).toMatchObject({ allowed: true, remaining: left, resetMs: 60_000 });
  }
  expect(budget.chargeWhole("acme", 10)).toMatchObject({ allowed: true, remaining: 186 });
  expect(charges).toEqual([[1]]);
});

test("a charge at the store returns what is left of the slice", async () => {
  const { budget, charges } = await withSlice();
  await budget.chargeWhole("acme", 13);
  expect(await budget.chargeWhole("acme", 8)).toMatchObject({ allowed: true, remaining: 178 });
  expect(charges).toEqual([[1], [8, 7]]);
});

test("writes that waited for a charge are charged to the slice that it leased", async () => {
  const { charges, verdicts } = await burst({ sliceMax: 20, count: 200 });
  expect(charges).toEqual([[1]]);
  expect(verdicts.at(-1)).toMatchObject({ allowed: true, remaining: 184 });
});

test("a slice is spent only by the tenant for which it was leased", async () => {
  const { budget, charges } = await withSlice();
  await budget.charge("rival");
  expect(charges).toEqual([[1], [1]]);
});

test("a slice is spent until its window ends", async () => {
  const { budget, charges, at } = await withSlice();
  at(59_999);
  await budget.charge("acme");
  expect(charges).toHaveLength(1);
  at(60_000);
  await budget.charge("acme");
  expect(charges).toHaveLength(2);
});

test("a slice that is not used for ten seconds is returned", async () => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { budget, returnSlices, at } = await withSlice();
  await budget.charge("rival");
  await budget.charge("acme");
  at(9_999);
  await budget.charge("rival");
  vi.advanceTimersByTime(5_000);
  expect(returnSlices.mock.lastCall).toEqual([[]]);
  at(10_000);
  vi.advanceTimersByTime(5_000);
  const acme = { tenantId: "acme", slice: { lease: "1", points: 19, endsAt: new Date(60_000) } };
  expect(returnSlices.mock.lastCall).toEqual([[acme]]);
});

test("every slice is returned when the budget is disposed", async () => {
  const { budget, returnSlices } = await withSlice();
  await budget.charge("rival");
  await budget[Symbol.asyncDispose]();
  const endsAt = new Date(60_000);
  const acme = { tenantId: "acme", slice: { lease: "1", points: 20, endsAt } };
  const rival = { tenantId: "rival", slice: { lease: "2", points: 20, endsAt } };
  expect(returnSlices.mock.lastCall).toEqual([[acme, rival]]);
});

/**
 * Makes five writes at a store that leases a slice of two points with the first one, fails at the
 * fourth and does not answer the fifth.
 */
async function failingStore() {
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
  const verdicts = [];
  for (let count = 0; count < 4; count += 1) verdicts.push(await budget.charge("acme"));
  const silent = budget.charge("acme");
  await vi.advanceTimersByTimeAsync(500);
  verdicts.push(await silent);
  return { verdicts, onOpen, charge };
}

test("writes pass while the store fails or does not answer", async () => {
  const { verdicts, charge } = await failingStore();
  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true]);
  expect(charge).toHaveBeenCalledTimes(3);
});

test("a write that passes without an answer of the store is reported, unlike one within a slice", async () => {
  expect((await failingStore()).onOpen).toHaveBeenCalledTimes(2);
});

// The failed charge may have taken the slice back.
test("a slice that was returned with a failed charge is not returned again", async () => {
  const { charge } = await failingStore();
  expect(charge.mock.calls.map(([{ returned }]) => returned?.lease)).toEqual([undefined, "a", undefined]);
});

test("a failure of the store is reported with the number of charges that the failure lets pass", async () => {
  const { budget, store, onOpen } = open();
  vi.spyOn(store, "charge").mockRejectedValue(new Error("down"));
  const first = budget.charge("acme");
  await Promise.resolve();
  const rest = Array.from({ length: 15 }, async () => budget.charge("acme"));
  await Promise.all([first, ...rest, budget.chargeWhole("acme", 9)]);
  expect(onOpen.mock.calls.map(([, charges]) => charges)).toEqual([1, 15, 1]);
});
