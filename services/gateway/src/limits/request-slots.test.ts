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

/** Asks for a slot and notes the tenant when it comes. */
async function take(tenantId: string): Promise<() => void> {
  const release = await slots.take(tenantId);
  granted.push(tenantId);
  return release;
}

const takeMany = (tenantId: string, count: number) => Promise.all(Array.from({ length: count }, () => take(tenantId)));

const turn = () => vi.advanceTimersByTimeAsync(0);

test("a tenant that is alone may have every slot", async () => {
  await takeMany("acme", 4);
  expect(granted).toEqual(["acme", "acme", "acme", "acme"]);
});

test("a slot that gets free goes to the tenant that holds less than half, however long another has waited", async () => {
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
  const refused = expect(waiting[1]).rejects.toMatchObject({ kind: "exhausted" });
  await vi.advanceTimersByTimeAsync(1_000);
  await refused;
});

test("tenants that hold less than half take turns", async () => {
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

test("a slot is given back once, however often its holder says so", async () => {
  const [first] = await takeMany("acme", 4);
  first!();
  first!();
  await take("rival");
  granted.length = 0;
  const waiting = take("third");
  await turn();
  expect(granted).toEqual([]);
  const refused = expect(waiting).rejects.toMatchObject({ kind: "unavailable" });
  await vi.advanceTimersByTimeAsync(1_000);
  await refused;
});

test("a request that gets no slot in time is refused for its tenant's share or for the pool, and counted so", async () => {
  await takeMany("acme", 4);
  const own = expect(take("acme")).rejects.toMatchObject({
    kind: "exhausted",
    message: "The tenant's share of the requests worked on at once, 2 requests, is in use; retry in 1 s",
  });
  const other = expect(take("rival")).rejects.toMatchObject({ kind: "unavailable" });
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all([own, other]);
  const metrics = await registry.metrics();
  expect(metrics).toContain('vidimus_shares_refused_total{pool="request_slots",outcome="share"} 1');
  expect(metrics).toContain('vidimus_shares_refused_total{pool="request_slots",outcome="pool"} 1');
});

test("what arrives in one turn of the event loop begins within 5 ms, or by 16 in each later turn, by turns of tenants", async () => {
  vi.useRealTimers();
  slots = openPools(new Registry()).slots;
  const taken = [take("acme")];
  const began = performance.now();
  while (performance.now() - began < 6);
  taken.push(...Array.from({ length: 40 }, () => take("acme")), take("rival"));
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  await Promise.resolve();
  expect(granted).toEqual(["acme"]);
  await nextTurn();
  expect(granted.slice(1, 3)).toEqual(["acme", "rival"]);
  expect(granted).toHaveLength(1 + 16);
  await nextTurn();
  expect(granted).toHaveLength(1 + 32);
  await Promise.all(taken);
  expect(granted).toHaveLength(42);
});
