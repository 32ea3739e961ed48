import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { unlessAborted } from "./unless-aborted.ts";

test("unlessAborted settles as the work does while the signal has not aborted", async () => {
  const { signal } = new AbortController();
  await expect(unlessAborted(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(unlessAborted(Promise.reject(new Error("work")), signal)).rejects.toThrow("work");
});

test.each(["before", "after"])(
  "unlessAborted handles the rejection of a work whose signal aborts %s the call",
  async (when) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    const controller = new AbortController();
    const { promise, reject } = Promise.withResolvers<never>();
    if (when === "before") controller.abort();
    const waited = unlessAborted(promise, controller.signal, () => new Error("aborted"));
    controller.abort();
    await expect(waited).rejects.toThrow("aborted");
    reject(new Error("work"));
    await turn();
    await turn();
    expect(unhandled).toEqual([]);
  },
);
