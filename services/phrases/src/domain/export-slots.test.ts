import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ExportSlots } from "./export-slots.ts";

const never = new AbortController().signal;
let slots: ExportSlots;

beforeEach(() => {
  vi.useFakeTimers();
  slots = new ExportSlots();
});

afterEach(() => vi.useRealTimers());

const hold = (tenantId: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => slots.take(tenantId, never)));
const kindOf = (taking: Promise<Disposable>) =>
  taking.then(
    () => "taken",
    ({ kind }: { kind: string }) => kind,
  );

test("an export beyond its tenant's share is refused after a second, and delays no other tenant's", async () => {
  await hold("acme", 8);
  let isOver = false;
  const taking = slots.take("acme", never).finally(() => (isOver = true));
  const ninth = expect(taking).rejects.toMatchObject({
    kind: "exhausted",
    message: "The tenant's share of the exports at once, 8 exports, is in use; retry in 1 s",
  });
  await hold("rival", 8);
  await vi.advanceTimersByTimeAsync(999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await ninth;
});

test("when an export of a tenant ends, its first waiting one begins, and the next one keeps waiting", async () => {
  const [first] = await hold("acme", 8);
  const [ninth, tenth] = [kindOf(slots.take("acme", never)), kindOf(slots.take("acme", never))];
  first![Symbol.dispose]();
  expect(await ninth).toBe("taken");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await tenth).toBe("exhausted");
});

test("when all slots are taken, tenants take turns, and an export without a slot is refused as unavailable", async () => {
  const held = await Promise.all("abcdefgh".split("").map((tenantId) => hold(tenantId, 8)));
  const started: string[] = [];
  const waiting = ["i 1", "i 2", "i 3", "j 1"].map((name) =>
    slots.take(name.split(" ")[0]!, never).then(() => started.push(name)),
  );
  const last = kindOf(slots.take("k", never));
  for (const slot of held[0]!.slice(0, 2)) slot[Symbol.dispose]();
  await Promise.all([waiting[0], waiting[3]]);
  expect(started).toEqual(["i 1", "j 1"]);
  const refused = waiting.slice(1, 3).map((taking) => expect(taking).rejects.toMatchObject({ kind: "unavailable" }));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await last).toBe("unavailable");
  await Promise.all(refused);
});

test("an export whose caller leaves while it waits takes no slot", async () => {
  const [first] = await hold("acme", 8);
  const caller = new AbortController();
  const left = expect(slots.take("acme", caller.signal)).rejects.toThrow("gone");
  caller.abort(new Error("gone"));
  await left;
  first![Symbol.dispose]();
  await hold("acme", 1);
});
