import { describe, expect, test } from "vitest";
import { ChangeSignal } from "./change-signal.ts";

const never = new AbortController().signal;

describe("a listener", () => {
  test("hears a signal that came before it waited, of its own tenant only", async () => {
    const changes = new ChangeSignal();
    using acme = changes.listen("acme");
    using rival = changes.listen("rival");
    changes.notify("acme");
    expect(await acme.within(10_000, never)).toBe("signalled");
    expect(await rival.within(1, never)).toBe("elapsed");
  });

  test("hears a signal that comes while it waits, as do all the tenant's others", async () => {
    const changes = new ChangeSignal();
    const listeners = [changes.listen("acme"), changes.listen("acme")];
    const heard = Promise.all(listeners.map((listener) => listener.within(10_000, never)));
    changes.notify("acme");
    expect(await heard).toEqual(["signalled", "signalled"]);
  });

  test("gives up with its caller", async () => {
    using listener = new ChangeSignal().listen("acme");
    const caller = new AbortController();
    const waiting = listener.within(10_000, caller.signal);
    caller.abort();
    expect(await waiting).toBe("elapsed");
  });

  test("is told of the end, whether it listened before or after", async () => {
    const changes = new ChangeSignal();
    using before = changes.listen("acme");
    changes.close();
    using after = changes.listen("acme");
    expect(await before.within(10_000, never)).toBe("closed");
    expect(await after.within(10_000, never)).toBe("closed");
  });
});
