import { expect, test } from "vitest";
import { Readiness } from "./readiness.ts";

/** Expects that a wait for a change ends at `work` and not before. */
async function expectEndAt(work: () => void, readiness: Readiness, signal: AbortSignal): Promise<void> {
  let hasEnded = false;
  const changed = readiness.changed(signal).then(() => (hasEnded = true));
  await new Promise(setImmediate);
  expect(hasEnded).toBe(false);
  work();
  await changed;
}

test("a wait for a change of readiness ends at the change", async () => {
  const readiness = new Readiness();
  await expectEndAt(() => readiness.setFailing(true), readiness, new AbortController().signal);
  expect(readiness.isReady()).toBe(false);
});

test("a wait for a change of readiness ends when its signal aborts, or has aborted before", async () => {
  const controller = new AbortController();
  await expectEndAt(() => controller.abort(), new Readiness(), controller.signal);
  await new Readiness().changed(controller.signal);
});
