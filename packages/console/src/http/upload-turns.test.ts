import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { uploadTurns } from "./upload-turns.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a newsroom's second upload waits for its first one, and another newsroom's begins at once", async () => {
  const turns = uploadTurns();
  const first = await turns.take("demo");
  const began = vi.fn<() => void>();
  const second = Promise.resolve(turns.take("demo")).then(began);
  await turns.take("times");
  await vi.advanceTimersByTimeAsync(14_000);
  expect(began).not.toHaveBeenCalled();
  first.release(0);
  await second;
  expect(began).toHaveBeenCalled();
});

test.each([
  ["its own newsroom", ["demo"], /another file or webhook of this newsroom.*nothing was done.*again/],
  ["other newsrooms", ["times", "post"], /other files.*nothing was done.*again/],
])("an upload that waits 15 seconds for one of %s is refused, and says that nothing was done", async (_, held, why) => {
  const turns = uploadTurns();
  for (const tenant of held) await turns.take(tenant);
  const refused = expect(turns.take("demo")).rejects.toMatchObject({
    kind: "exhausted",
    message: expect.stringMatching(why),
  });
  await vi.advanceTimersByTimeAsync(15_000);
  await refused;
});
