import { expect, test } from "vitest";
import { Readiness } from "./readiness.ts";

test("a wait for a change of readiness ends at the change, or as soon as its signal has aborted", async () => {
  const readiness = new Readiness();
  const endsAt = async (work: () => void, signal: AbortSignal) => {
    let hasEnded = false;
    const changed = readiness.changed(signal).then(() => (hasEnded = true));
    await new Promise(setImmediate);
    expect(hasEnded).toBe(false);
    work();
    await changed;
  };
  await endsAt(() => readiness.setFailing(true), new AbortController().signal);
  const controller = new AbortController();
  await endsAt(() => controller.abort(), controller.signal);
  await readiness.changed(AbortSignal.abort());
  expect(readiness.isReady()).toBe(false);
});
