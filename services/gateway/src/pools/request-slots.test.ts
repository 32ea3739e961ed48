import { Registry } from "prom-client";
import { beforeEach, afterEach, expect, test, vi } from "vitest";
import { openPools, type Pools } from "./pools.ts";

let registry: Registry;
let slots: Pools["slots"];
let granted: string[];

beforeEach(() => {
  vi.useFakeTimers();
  registry = new Registry();
  slots = openPools(registry, { slots: 4 }).slots;
  granted = [];
});

afterEach(() => {
  vi.useRealTimers();
});

/** Asks for a slot, and notes the tenant in `granted` when the slot comes. */
async function take(tenantId: string): Promise<() => void> {
  const slot = await slots.take(tenantId);
  granted.push(tenantId);
  return () => slot.release(0);
}

const takeMany = (tenantId: string, count: number) => Promise.all(Array.from({ length: count }, () => take(tenantId)));

const turn = () => vi.advanceTimersByTimeAsync(0);

test("a tenant that is alone may have every slot", async () => {
  await takeMany("acme", 4);
  expect(granted).toEqual(["acme", "acme", "acme", "acme"]);
});

test("a tenant with less than half of the slots goes before one with at least half that asked earlier", async () => {
  const [first, second] = await takeMany("acme", 4);
  const waiting = [take("acme"), take("acme"), take("rival"), take("rival")];
  granted.length = 0;
  first!();
  second!();
  await turn();
  expect(granted).toEqual(["rival", "rival"]);
  const third = await waiting[2];
  third!();
  await turn();
  expect(granted).toEqual(["rival", "rival", "acme"]);
  const refused = expect(waiting[1]).rejects.toMatchObject({ code: "RATE_LIMITED" });
  await vi.advanceTimersByTimeAsync(1_000);
  await refused;
});

test("waiting tenants that hold less than half of the slots take turns", async () => {
  const releases = await takeMany("acme", 4);
  const waiting = ["b", "b", "b", "c", "d"].map(take);
  granted.length = 0;
  for (const release of releases) release();
  await turn();
  expect(granted).toEqual(["b", "c", "d", "b"]);
  const release = await waiting[3]!;
  release();
  await Promise.all(waiting);
});

test("a slot is released once, also when its holder releases it twice", async () => {
  const [first] = await takeMany("acme", 4);
  first!();
  first!();
  await take("rival");
  granted.length = 0;
  const waiting = take("third");
  await turn();
  expect(granted).toEqual([]);
  const refused = expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await vi.advanceTimersByTimeAsync(1_000);
  await refused;
});

test("a request without a slot after 1 s is RATE_LIMITED if its tenant has its share, else UNAVAILABLE", async () => {
  await takeMany("acme", 4);
  const own = expect(take("acme")).rejects.toMatchObject({
    code: "RATE_LIMITED",
    message: "The tenant's share of the requests worked on at once, 2 requests, is in use; retry in 1 s",
  });
  const other = expect(take("rival")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all([own, other]);
  const metrics = await registry.metrics();
  expect(metrics).toContain('vidimus_shares_refused_total{pool="request_slots",outcome="share"} 1');
  expect(metrics).toContain('vidimus_shares_refused_total{pool="request_slots",outcome="pool"} 1');
});
