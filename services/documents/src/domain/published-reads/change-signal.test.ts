import { describe, expect, test, vi } from "vitest";
import { ChangeSignal } from "./change-signal.ts";

const never = new AbortController().signal;

describe("a listener", () => {
  test("hears a signal that came before it waited", async () => {
    const changes = new ChangeSignal();
    using acme = changes.listen("acme", "");
    changes.notify("acme", "core/tag");
    expect(await acme.within(1, never)).toBe("signalled");
  });

  test("does not hear a signal of another tenant", async () => {
    const changes = new ChangeSignal();
    using rival = changes.listen("rival", "");
    changes.notify("acme", "core/tag");
    expect(await rival.within(1, never)).toBe("elapsed");
  });

  test("hears a signal that comes while it waits beside another listener of its tenant", async () => {
    const changes = new ChangeSignal();
    const listeners = [changes.listen("acme", ""), changes.listen("acme", "")];
    // Shorter than the second after which listeners are woken without a signal.
    const heard = Promise.all(listeners.map((listener) => listener.within(500, never)));
    changes.notify("acme", "core/tag");
    expect(await heard).toEqual(["signalled", "signalled"]);
  });

  /** Whether listeners for tags, for articles and for all types hear a signal of this type. */
  async function heardBy(type: string): Promise<boolean[]> {
    const changes = new ChangeSignal();
    const listeners = ["core/tag", "core/article", ""].map((each) => changes.listen("acme", each));
    changes.notify("acme", type);
    const heard = await Promise.all(listeners.map((listener) => listener.within(1, never)));
    for (const listener of listeners) listener[Symbol.dispose]();
    return heard.map((wakening) => wakening === "signalled");
  }

  test("hears signals of its own type but not of another, or of any type if it names none", async () => {
    expect(await heardBy("core/tag")).toEqual([true, false, true]);
    expect(await heardBy("core/image")).toEqual([false, false, true]);
  });

  test("hears signals of unknown type, whatever its own type is", async () => {
    expect(await heardBy("")).toEqual([true, true, true]);
  });

  test("is woken within a second without a signal, together with another tenant's listener", async () => {
    vi.useFakeTimers();
    try {
      const changes = new ChangeSignal();
      const woken: string[] = [];
      const wait = async (tenantId: string) => {
        using listener = changes.listen(tenantId, "core/tag");
        woken.push(`${tenantId} ${await listener.within(60_000, never)}`);
      };
      const first = wait("acme");
      await vi.advanceTimersByTimeAsync(900);
      const second = wait("rival");
      await vi.advanceTimersByTimeAsync(99);
      expect(woken).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(woken).toEqual(["acme signalled", "rival signalled"]);
      await Promise.all([first, second]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("stops waiting when its caller aborts", async () => {
    using listener = new ChangeSignal().listen("acme", "");
    const caller = new AbortController();
    // Longer than a test may take, because a wait that is not stopped ends as elapsed, too.
    const waiting = listener.within(600_000, caller.signal);
    caller.abort();
    expect(await waiting).toBe("elapsed");
  });

  test("is woken by close, whether it was created before or after close", async () => {
    const changes = new ChangeSignal();
    using before = changes.listen("acme", "");
    changes.close();
    using after = changes.listen("acme", "");
    expect(await before.within(10_000, never)).toBe("closed");
    expect(await after.within(10_000, never)).toBe("closed");
  });
});
