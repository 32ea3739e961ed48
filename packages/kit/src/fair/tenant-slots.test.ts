import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TenantSlots } from "./tenant-slots.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(0);

/** `take("a1")` takes a slot for the tenant `a`, and then adds "a1" to `got`. */
function taker(slots: TenantSlots) {
  const got: string[] = [];
  const take = async (name: string, signal?: AbortSignal) => {
    const slot = await slots.take(name.slice(0, 1), signal);
    got.push(name);
    return slot;
  };
  return { take, got };
}

test("a free slot is taken at once", () => {
  expect(new TenantSlots({ capacity: 1, share: 1 }).take("a")).not.toBeInstanceOf(Promise);
});

test("a slot that rests after its release counts towards its tenant's share, but is free for others", async () => {
  const { take, got } = taker(new TenantSlots({ capacity: 1, share: 1 }));
  const first = await take("a1");
  const waiting = [take("a2"), take("b1")];
  first.release(50);
  await settle();
  expect(got).toEqual(["a1", "b1"]);
  (await waiting[1])?.release(0);
  await vi.advanceTimersByTimeAsync(49);
  expect(got).toEqual(["a1", "b1"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(got).toEqual(["a1", "b1", "a2"]);
});

test("a tenant at its share waits behind tenants that hold less, even where it may exceed its share", async () => {
  const { take, got } = taker(new TenantSlots({ capacity: 2, share: 1, mayExceed: true }));
  const [first] = await Promise.all([take("a1"), take("a2")]);
  void take("a3");
  void take("b1");
  first.release(0);
  await settle();
  expect(got).toEqual(["a1", "a2", "b1"]);
});

test("without a time limit a caller waits until its signal aborts, and then takes no slot", async () => {
  const { take, got } = taker(new TenantSlots({ capacity: 1, share: 1 }));
  const first = await take("a1");
  const caller = new AbortController();
  const left = expect(take("b1", caller.signal)).rejects.toThrow("gone");
  await vi.advanceTimersByTimeAsync(3_600_000);
  caller.abort(new Error("gone"));
  await left;
  void take("c1");
  first.release(0);
  await settle();
  expect(got).toEqual(["a1", "c1"]);
});
