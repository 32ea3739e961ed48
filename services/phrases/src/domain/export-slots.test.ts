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

test("an export beyond its tenant's share is refused after a second", async () => {
  await hold("acme", 8);
  let isOver = false;
  const taking = slots.take("acme", never).finally(() => (isOver = true));
  const ninth = expect(taking).rejects.toMatchObject({
    kind: "exhausted",
    message: "The tenant's share of the exports at once, 8 exports, is in use; retry in 1 s",
  });
  await vi.advanceTimersByTimeAsync(999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await ninth;
});

test("an export that waits beyond its tenant's share delays no export of another tenant", async () => {
  await hold("acme", 8);
  const ninth = kindOf(slots.take("acme", never));
  await hold("rival", 8);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await ninth).toBe("exhausted");
});

test("when an export ends, only the first waiting export of its tenant begins", async () => {
  const [first] = await hold("acme", 8);
  const [ninth, tenth] = [kindOf(slots.take("acme", never)), kindOf(slots.take("acme", never))];
  first![Symbol.dispose]();
  expect(await ninth).toBe("taken");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await tenth).toBe("exhausted");
});

const takeAll = () => Promise.all("abcdefgh".split("").map((tenantId) => hold(tenantId, 8)));

test("when all slots are taken, an export is refused as unavailable after a second", async () => {
  await takeAll();
  let isOver = false;
  const refused = kindOf(slots.take("k", never)).finally(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await refused).toBe("unavailable");
});

test("when all slots are taken, tenants take turns at those that become free", async () => {
  const held = await takeAll();
  const started: string[] = [];
  const waiting = ["i 1", "i 2", "i 3", "j 1"].map((name) =>
    slots.take(name.split(" ")[0]!, never).then(() => started.push(name)),
  );
  for (const slot of held[0]!.slice(0, 2)) slot[Symbol.dispose]();
  await Promise.all([waiting[0], waiting[3]]);
  expect(started).toEqual(["i 1", "j 1"]);
  const refused = waiting.slice(1, 3).map((taking) => expect(taking).rejects.toMatchObject({ kind: "unavailable" }));
  await vi.advanceTimersByTimeAsync(1_000);
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
