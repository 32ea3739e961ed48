import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { uploadTurns } from "./upload-turns.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a tenant's second upload waits for the first to end", async () => {
  const turns = uploadTurns();
  const first = await turns.take("demo");
  const began = vi.fn<() => void>();
  const second = Promise.resolve(turns.take("demo")).then(began);
  await vi.advanceTimersByTimeAsync(14_000);
  expect(began).not.toHaveBeenCalled();
  first.release(0);
  await second;
  expect(began).toHaveBeenCalled();
});

test("an upload does not wait for an upload of another tenant", async () => {
  const turns = uploadTurns();
  await turns.take("demo");
  const began = vi.fn<() => void>();
  void Promise.resolve(turns.take("times")).then(began);
  await vi.advanceTimersByTimeAsync(0);
  expect(began).toHaveBeenCalled();
});

test.each([
  ["an upload of its tenant", ["demo"], /another file or webhook of this newsroom.*nothing was done.*again/],
  ["two uploads of other tenants", ["times", "post"], /other files.*nothing was done.*again/],
])("an upload that waits 15 s for %s is refused, and told that nothing was done", async (...row) => {
  const [, held, why] = row;
  const turns = uploadTurns();
  for (const tenant of held) await turns.take(tenant);
  const refused = vi.fn<(error: unknown) => void>();
  void Promise.resolve(turns.take("demo")).catch(refused);
  await vi.advanceTimersByTimeAsync(14_999);
  expect(refused).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  const message: unknown = expect.stringMatching(why);
  expect(refused).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ kind: "exhausted", message }));
});
