import { expect, test } from "vitest";
import { Readiness } from "./readiness.ts";

test("a wait for a change ends at the change, or as soon as its signal has aborted", async () => {
  const readiness = new Readiness();
  const ends = async (work: () => void, signal: AbortSignal) => {
    const changed = readiness.changed(signal);
    work();
    await changed;
  };
  await ends(() => readiness.setFailing(true), new AbortController().signal);
  const controller = new AbortController();
  await ends(() => controller.abort(), controller.signal);
  await ends(() => {}, AbortSignal.abort());
  expect(readiness.isReady()).toBe(false);
});
